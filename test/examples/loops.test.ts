/** The loops of docs/agents.md with what seldom happens: a response that was cut, a prompt that was blocked, an answer that was lost. */
import { readFileSync } from 'node:fs';
import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import { Ollama } from 'ollama';
import OpenAI from 'openai';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { runAnthropic } from '../../examples/anthropic.ts';
import { runGeminiInteractions } from '../../examples/gemini-interactions.ts';
import { runGemini } from '../../examples/gemini.ts';
import { runOllama } from '../../examples/ollama.ts';
import { runOpenAIChat } from '../../examples/openai-chat.ts';
import { runOpenAI } from '../../examples/openai-responses.ts';
import { replay } from '../../examples/scripted-model.ts';
import { toolgate, type Gate } from '../../examples/toolgate.ts';
import { unattended } from '../support/unattended.ts';

const GATE = 'https://toolgate.test';
const PLEA = 'Please refund 9.90 of ORD-1001, it arrived damaged.';
const SAID = 'I have refunded 9.90 BRL of order ORD-1001.';

type Recorded = { choices: object[]; candidates: object[] };

/** The recorded responses from the valid refund on: that one, and the end. */
const recorded = (provider: string): [Recorded, Recorded] =>
  (JSON.parse(readFileSync(`examples/recorded/${provider}.json`, 'utf8')) as Recorded[]).slice(-2) as [
    Recorded,
    Recorded,
  ];

const said = [{ role: 'user' as const, content: PLEA }];
const loops = [
  {
    provider: 'openai',
    cut: (response: Recorded) => ({ ...response, status: 'incomplete' }),
    run: (baseURL: string, gate: Gate) => runOpenAI(new OpenAI({ baseURL, apiKey: 'none' }), gate, [...said]),
  },
  {
    provider: 'openai-chat',
    cut: (response: Recorded) => ({ ...response, choices: [{ ...response.choices[0], finish_reason: 'length' }] }),
    run: (baseURL: string, gate: Gate) => runOpenAIChat(new OpenAI({ baseURL, apiKey: 'none' }), gate, [...said]),
  },
  {
    provider: 'anthropic',
    cut: (response: Recorded) => ({ ...response, stop_reason: 'max_tokens' }),
    run: (baseURL: string, gate: Gate) => runAnthropic(new Anthropic({ baseURL, apiKey: 'none' }), gate, [...said]),
  },
  {
    provider: 'gemini',
    cut: (response: Recorded) => ({ candidates: [{ ...response.candidates[0], finishReason: 'MAX_TOKENS' }] }),
    run: (baseUrl: string, gate: Gate) =>
      runGemini(new GoogleGenAI({ apiKey: 'none', httpOptions: { baseUrl } }), gate, [{ parts: [{ text: PLEA }] }]),
  },
  {
    provider: 'gemini-interactions',
    cut: (response: Recorded) => ({ ...response, status: 'incomplete' }),
    run: async (baseUrl: string, gate: Gate) =>
      (await runGeminiInteractions(new GoogleGenAI({ apiKey: 'none', httpOptions: { baseUrl } }), gate, PLEA)).text,
  },
  {
    provider: 'ollama',
    cut: (response: Recorded) => ({ ...response, done_reason: 'length' }),
    run: (host: string, gate: Gate) => runOllama(new Ollama({ host }), gate, [...said]),
  },
];

/** A gate whose host reaches it through `fetch`; every other address is this machine's network. */
function gateThrough(reach: (url: string, init?: RequestInit) => Promise<Response>): Gate {
  const network = globalThis.fetch;
  const isGate = (url: unknown): url is string => typeof url === 'string' && url.startsWith(GATE);
  vi.stubGlobal('fetch', (url: string, init?: RequestInit) => (isGate(url) ? reach(url, init) : network(url, init)));
  return toolgate(GATE, async () => 'token');
}

describe.each(loops)('the loop of $provider', ({ provider, cut, run }) => {
  afterEach(() => void vi.unstubAllGlobals());

  it('hands a response that was cut back to the model, which then proposes the call again', async () => {
    const [refund, end] = recorded(provider);
    const { fetch, moved, rows } = await unattended();
    const gate = gateThrough(fetch);
    const { result, requests } = await replay([cut(refund), refund, end], (url) => run(url, gate));
    expect(result).toBe(SAID);
    expect(JSON.stringify(requests[1])).toContain('RESPONSE_INCOMPLETE');
    expect(rows().map(({ code }) => code)).toStrictEqual(['RESPONSE_INCOMPLETE', 'OK']);
    expect(moved()).toStrictEqual([990]);
  });

  it('sends a response again whose answer was lost, and pays once', async () => {
    const [refund, end] = recorded(provider);
    const { fetch, moved, rows } = await unattended({ identical_effects: 'ask' });
    let isLost = false;
    const gate = gateThrough(async (url, init) => {
      const answer = await fetch(url, init);
      if (isLost || init?.method !== 'POST') return answer;
      isLost = true;
      throw new TypeError('fetch failed');
    });
    const { result } = await replay([refund, end], (url) => run(url, gate));
    expect(result).toBe(SAID);
    expect(rows().map(({ code, step }) => [code, step])).toStrictEqual([['OK', 1]]);
    expect(moved()).toStrictEqual([990]);
  });
});

describe('runGemini', () => {
  afterEach(() => void vi.unstubAllGlobals());

  it.each([
    { promptFeedback: { blockReason: 'PROHIBITED_CONTENT' } },
    { promptFeedback: { blockReason: 'PROHIBITED_CONTENT' }, candidates: [] },
    { candidates: [{ finishReason: 'PROHIBITED_CONTENT' }] },
  ])('ends with the reason for %j', async (response) => {
    const { fetch } = await unattended();
    const gate = gateThrough(fetch);
    const ask = (baseUrl: string) =>
      runGemini(new GoogleGenAI({ apiKey: 'none', httpOptions: { baseUrl } }), gate, [{ parts: [{ text: PLEA }] }]);
    const { result, requests } = await replay([response], ask);
    expect(result).toBe('The model said nothing: PROHIBITED_CONTENT.');
    expect(requests).toHaveLength(1);
  });
});
