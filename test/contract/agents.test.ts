/** docs/agents.md: each provider's own SDK and the loop to copy, against a scripted model and a running Worker. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import { Ollama } from 'ollama';
import OpenAI from 'openai';
import { describe, expect, it, vi } from 'vitest';
import { runAnthropic } from '../../examples/anthropic.ts';
import { runGeminiInteractions } from '../../examples/gemini-interactions.ts';
import { runGemini } from '../../examples/gemini.ts';
import { serve } from '../../examples/host.ts';
import { runOllama } from '../../examples/ollama.ts';
import { runOpenAIChat } from '../../examples/openai-chat.ts';
import { runOpenAI } from '../../examples/openai-responses.ts';
import { rehearse } from '../../examples/rehearsal.ts';
import { replay } from '../../examples/scripted-model.ts';
import { openSession, toolgate, type Gate } from '../../examples/toolgate.ts';
import { approveOnPage, linkInMail } from '../../scripts/demo-approval.ts';
import { sharedWorker } from './shared-worker.ts';

const PLEA = 'Please refund 9.90 of ORD-1001, it arrived damaged.';
const SAID = 'I have refunded 9.90 BRL of order ORD-1001.';

const client = sharedWorker();

const recorded = (provider: string): object[] =>
  JSON.parse(readFileSync(join(import.meta.dirname, `../../examples/recorded/${provider}.json`), 'utf8')) as object[];

const gateOf = (apiKey: string, session_id: string = crypto.randomUUID()): Gate =>
  toolgate(client.worker.url, () => openSession(client.worker.url, apiKey, { session_id, customer_id: 'CUS-1' }));

/** As the host does it: refunds above `confirm_above_cents` need a person. */
async function newGate(confirm_above_cents: number): Promise<Gate> {
  const { api_key } = await client.newCaller({ confirm_above_cents });
  return gateOf(api_key);
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
  it.each(Object.entries(loops))(
    'take %s through look-up, mistake, refund and end, and move the money once',
    async (provider, loop) => {
      const gate = await newGate(1_000);
      const before = await appliedEffects();
      const { result, requests } = await replay(recorded(provider), (url) => loop(url, gate));
      expect(result).toBe(SAID);
      expect(codesTold(requests)).toEqual(['OK', 'OK', 'INVALID_ARGUMENTS', 'OK']);
      expect(requests).toHaveLength(4);
      expect((await appliedEffects()) - before).toBe(1);
    },
  );
});

async function appliedEffects(): Promise<number> {
  const { json } = await client.send('/admin/ledger?limit=500', { credential: client.worker.adminToken });
  return (json['rows'] as { applied: boolean }[]).filter(({ applied }) => applied).length;
}

/** The approver's part: reads the mail about the caller's one approval, opens its link, types the amount. */
async function approveOf(callerId: string): Promise<void> {
  const id = await vi.waitFor(async () => {
    const { json } = await client.send(`/admin/approvals?caller_id=${callerId}`, {
      credential: client.worker.adminToken,
    });
    const [approval] = json['approvals'] as { id: string }[];
    if (approval === undefined) throw new Error('nothing to approve yet');
    return approval.id;
  }, 20_000);
  await approveOnPage(await linkInMail(client.worker, id), '9.90');
}

describe('serve', () => {
  it('waits for a person and goes on with what was decided', async () => {
    const [, , refund = {}, end = {}] = recorded('openai');
    const { caller_id, api_key } = await client.newCaller();
    const { requests } = await replay([refund, end, end], async (baseURL) => {
      const openai = new OpenAI({ baseURL, apiKey: 'none' });
      const host = { url: client.worker.url, apiKey: api_key, openai, say: () => undefined };
      await Promise.all([serve(host, 'CUS-1', PLEA), approveOf(caller_id)]);
    });
    expect(codesTold(requests.slice(0, 2))).toEqual(['CONFIRMATION_REQUIRED']);
    expect(codesTold(requests)).toEqual(['OK']);
  });
});

describe('toolgate', () => {
  it('joins its session again when its token has run out', async () => {
    const { api_key } = await client.newCaller();
    const session = { session_id: crypto.randomUUID(), customer_id: 'CUS-1' };
    const tokens: string[] = [];
    const gate = toolgate(client.worker.url, async () => {
      tokens.push(await openSession(client.worker.url, api_key, session));
      return tokens.length === 1 ? 'expired' : (tokens.at(-1) ?? '');
    });
    expect(await gate.tools('openai')).toHaveLength(4);
    expect(await gate.tools('openai')).toHaveLength(4);
    expect(tokens).toHaveLength(2);
  });

  it('says so where there is none to join', async () => {
    const { api_key } = await client.newCaller();
    const gate = gateOf(api_key, 'over');
    await gate.tools('openai');
    await client.send('/v1/sessions/over', { method: 'DELETE', credential: api_key });
    await expect(gate.tools('openai')).rejects.toThrow(
      /Toolgate answered 409: .*session_id names a session that was ended/,
    );
  });
});

describe('rehearse', () => {
  it('plays one step to the loop and gives what the model would have been asked', async () => {
    const { api_key } = await client.newCaller();
    const [lookUp = {}, , , end = {}] = recorded('openai');
    const { result, requests } = await rehearse(client.worker.url, api_key, [lookUp, end]);
    expect(result).toBe(SAID);
    expect(codesTold([requests[1]])).toEqual(['OK', 'OK']);
  });
});

describe('replay', () => {
  it('fails the loop that asks for more than was recorded', async () => {
    const gate = await newGate(0);
    const replayed = replay(recorded('openai').slice(0, 1), async (url) => loops['openai']?.(url, gate));
    await expect(replayed).rejects.toThrow('The script has no more responses.');
  });
});
