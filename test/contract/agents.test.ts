/** docs/agents.md: each provider's own SDK and the loop to copy, against a scripted model and a running Worker. */
import { readFileSync } from 'node:fs';
import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import { Ollama } from 'ollama';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runAnthropic } from '../../examples/anthropic.ts';
import { runGeminiInteractions } from '../../examples/gemini-interactions.ts';
import { runGemini } from '../../examples/gemini.ts';
import { runOllama } from '../../examples/ollama.ts';
import { runOpenAIChat } from '../../examples/openai-chat.ts';
import { runOpenAI } from '../../examples/openai-responses.ts';
import { scriptedModel } from '../../examples/scripted-model.ts';
import { openSession, toolgate, type Gate } from '../../examples/toolgate.ts';
import { approveOnPage, linkInMail } from '../../scripts/demo-approval.ts';
import { freshWorker, type Client } from './client.ts';

const PLEA = 'Please refund 9.90 of ORD-1001, it arrived damaged.';
const SAID = 'I have refunded 9.90 BRL of order ORD-1001.';

let client: Client;
beforeAll(async () => {
  client = await freshWorker();
});
afterAll(() => client.stop());

const recorded = (provider: string): object[] =>
  JSON.parse(readFileSync(new URL(`../../examples/recorded/${provider}.json`, import.meta.url), 'utf8')) as object[];

/** As the host does it: refunds above `confirm_above_cents` need a person. */
async function newGate(confirm_above_cents: number): Promise<Gate> {
  const { api_key } = await client.newCaller({ confirm_above_cents });
  return toolgate(client.worker.url, (await openSession(client.worker.url, api_key, { customer_id: 'CUS-1' })).token);
}

const stringsIn = (value: unknown): string[] =>
  typeof value === 'string'
    ? [value]
    : typeof value === 'object' && value !== null
      ? Object.values(value).flatMap(stringsIn)
      : [];

/** The codes of all observations that the model was told, each call once, in their order. */
function codesTold(requests: readonly unknown[]): string[] {
  const told = stringsIn(requests).flatMap((text) => [
    ...text.matchAll(/<tool_observation name="\w+" id="(?<id>[^"]+)">.*?"code":"(?<code>\w+)"/g),
  ]);
  return [...new Map(told.map(({ groups = {} }) => [groups['id'], groups['code'] ?? ''])).values()];
}

type Run = (url: string, gate: Gate) => Promise<string>;
const loops: Record<string, Run> = {
  openai: (baseURL, gate) =>
    runOpenAI(new OpenAI({ baseURL, apiKey: 'none' }), gate, [{ role: 'user', content: PLEA }]),
  'openai-chat': (baseURL, gate) =>
    runOpenAIChat(new OpenAI({ baseURL, apiKey: 'none' }), gate, [{ role: 'user', content: PLEA }]),
  anthropic: (baseURL, gate) =>
    runAnthropic(new Anthropic({ baseURL, apiKey: 'none' }), gate, [{ role: 'user', content: PLEA }]),
  gemini: (baseUrl, gate) =>
    runGemini(new GoogleGenAI({ apiKey: 'none', httpOptions: { baseUrl } }), gate, [
      { role: 'user', parts: [{ text: PLEA }] },
    ]),
  'gemini-interactions': async (baseUrl, gate) =>
    (await runGeminiInteractions(new GoogleGenAI({ apiKey: 'none', httpOptions: { baseUrl } }), gate, PLEA)).text,
  ollama: (host, gate) => runOllama(new Ollama({ host }), gate, [{ role: 'user', content: PLEA }]),
};

describe('the agent loops', () => {
  it.each(Object.entries(loops))('take %s through look-up, mistake, refund and end', async (provider, run) => {
    const model = await scriptedModel(recorded(provider));
    try {
      expect(await run(model.url, await newGate(1_000))).toBe(SAID);
      expect(codesTold(model.requests)).toEqual(['OK', 'OK', 'INVALID_ARGUMENTS', 'OK']);
      expect(model.requests).toHaveLength(4);
    } finally {
      await model.stop();
    }
  });

  it('move the money once each', async () => {
    const { json } = await client.send('/admin/ledger', { credential: client.worker.adminToken });
    const applied = (json['rows'] as { applied: boolean }[]).filter((row) => row.applied);
    expect(applied).toHaveLength(Object.keys(loops).length);
  });

  it('wait for a person and go on with what was decided', async () => {
    const [lookUp = {}, , refund = {}, end = {}] = recorded('openai');
    const model = await scriptedModel([lookUp, refund, end, end]);
    const openai = new OpenAI({ baseURL: model.url, apiKey: 'none' });
    try {
      const gate = await newGate(0);
      const conversation: OpenAI.Responses.ResponseInputItem[] = [{ role: 'user', content: PLEA }];
      await runOpenAI(openai, gate, conversation);
      expect(codesTold(model.requests)).toEqual(['OK', 'OK', 'CONFIRMATION_REQUIRED']);
      const [id = ''] = gate.waiting;
      await approveOnPage(await linkInMail(client.worker, id), '9.90');
      conversation.push({ role: 'user', content: await gate.decided(id) });
      await runOpenAI(openai, gate, conversation);
      expect(codesTold(model.requests)).toEqual(['OK', 'OK', 'OK']);
    } finally {
      await model.stop();
    }
  });
});

describe('scriptedModel', () => {
  it('ends the loop of whoever asks for more than was recorded', async () => {
    const model = await scriptedModel(recorded('openai').slice(0, 1));
    await expect(loops['openai']?.(model.url, await newGate(0))).rejects.toThrow('The script has no more responses.');
    await model.stop();
  });
});
