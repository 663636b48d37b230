/** Public lists of strings and of JSON texts in every place that takes one: each is answered, and none by a 5xx. */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { JsonObject, JsonValue } from '../../src/gate/json.ts';
import { Random } from '../simulation/random.ts';
import { describeCorpus, payloadsOf, type Corpus } from '../support/corpora.ts';
import { providerBodies } from '../support/provider-bodies.ts';
import { isWhole } from '../support/whole.ts';
import { broken, leaking, type Answer } from './answer.ts';
import { Deployment } from './deployment.ts';
import { Pool } from './pool.ts';
import { get, post, toRequest, type Asked } from './request.ts';
import { ADMIN_TOKEN, ORIGIN } from './target.ts';

vi.mock('cloudflare:workers', () => ({ DurableObject: Object }));

/** The general categories of Unicode that occur in a text. */
const KINDS = ['Cc', 'Cf', 'Cs', 'Co', 'Cn', 'L', 'M', 'N', 'P', 'S', 'Z'].map((name) => ({
  name,
  pattern: new RegExp(String.raw`\p{${name}}`, 'u'),
}));
const mixtureOf = (text: string): string =>
  KINDS.flatMap(({ name, pattern }) => (pattern.test(text) ? [name] : [])).join(' ');

/** The first string of each mixture: what else has the same kinds of characters takes the same ways. */
const hardPayloadsOf = (corpus: Corpus, name: string): string[] => [
  ...new Map(
    payloadsOf(corpus, name)
      .toReversed()
      .map((text) => [mixtureOf(text), text]),
  ).values(),
];

describe('a deployment of its own', () => {
  let deployment: Deployment;
  let pool: Pool;
  beforeAll(async () => {
    deployment = new Deployment('corpora');
    pool = new Pool(deployment, new Random('corpora'));
    await pool.begin();
  });
  afterAll(() => {
    expect(leaking(deployment.logged)).toEqual([]);
    deployment.close();
  });

  const session = (number: number): string => pool.sessions.at(-1 - number)?.token ?? '';
  /** The first caller's sessions take a thousand calls each; before they have, there are new ones. */
  async function renewSessions(): Promise<void> {
    const [caller] = pool.callers;
    if (caller === undefined) throw new Error('there is no caller');
    for (let made = 0; made < 5; made += 1) await pool.openSession(caller);
  }
  const key = (): string => pool.callers[0]?.api_key ?? '';

  async function answerTo(asked: Asked): Promise<Answer | null> {
    const request = toRequest(asked);
    if (request === null) return null;
    const response = await deployment.fetch(request);
    const answer = { status: response.status, headers: response.headers, text: await response.text() };
    expect({ asked, rules: broken(answer, asked), text: answer.text.slice(0, 200) }).toMatchObject({ rules: [] });
    return answer;
  }

  /** The status of each answer; null where no client could send that. */
  async function statusesOf(all: Asked[]): Promise<(number | null)[]> {
    const statuses = [];
    for (const asked of all) statuses.push((await answerTo(asked))?.status ?? null);
    return statuses;
  }

  const inPath = (text: string): string => encodeURIComponent(text.toWellFormed());
  const named = (name: string, value: JsonValue): JsonObject => Object.fromEntries([[name, value]]);

  /** One after another, by the length of the text. */
  function asProvider(text: string): Asked {
    const bodies = providerBodies[text.length % providerBodies.length] ?? providerBodies[0];
    if (bodies === undefined) throw new Error('there is no provider');
    const { provider, item, body } = bodies;
    const response = body([item({ id: text, name: text, arguments: text })]);
    return post('', `/v1/calls/${provider}`, session(3), response);
  }

  function placesOf(text: string): Asked[] {
    const calls = (body: JsonObject, token = session(0)): Asked => post('', '/v1/calls', token, body);
    const admin = (path: string, query: [string, string][] = []): Asked => get('', path, ADMIN_TOKEN, query);
    const path = inPath(text);
    const refund = { order_id: 'ORD-1001', amount_cents: 1, currency: 'BRL', reason: text };
    const form: Asked = {
      route: '',
      method: 'POST',
      path: '/approvals/apr_x',
      query: [['t', path]],
      headers: [
        ['origin', ORIGIN],
        ['content-type', 'application/x-www-form-urlencoded'],
      ],
      body: {
        kind: 'form',
        fields: [
          ['decision', text],
          ['phrase', text],
          ['note', text],
          [text, text],
        ],
      },
    };
    return [
      calls({ tool: text, arguments: text }),
      calls({ tool: 'calculator', arguments: { expression: text } }),
      calls({ tool: 'get_order', arguments: { order_id: text, ...named(text, text) } }, session(1)),
      calls({ tool: 'refund_order', arguments: refund }, session(2)),
      calls({ tool: 'lookup_document', arguments: { doc_id: text } }, session(2)),
      calls({ tool: 'calculator', call_id: text }),
      calls(named(text, text)),
      asProvider(text),
      post('', '/mcp', session(1), { jsonrpc: '2.0', id: text, method: text, params: named(text, text) }),
      post('', '/mcp', session(1), {
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: text, arguments: named(text, text) },
      }),
      post('', '/v1/sessions', key(), { session_id: text }),
      post('', '/v1/sessions', key(), { requested_by: text }),
      post('', '/v1/sessions', key(), { customer_id: text, tools: [text] }),
      post('', '/admin/callers', ADMIN_TOKEN, { name: text, allowed_tools: ['calculator'], approvers: [text] }),
      { ...get('', `/v1/sessions/${path}`, key()), method: 'DELETE' },
      get('', `/v1/approvals/${path}`, session(0), [['wait', path]]),
      get('', '/v1/tools', session(0), [['provider', path]]),
      get('', `/approvals/${path}`, null, [['t', path]]),
      form,
      admin('/admin/audit', [
        ['session_id', path],
        ['tool', path],
      ]),
      admin('/admin/audit/heads', [['cursor', path]]),
      get('', `/docs/problems/${path}`, null),
    ];
  }

  describeCorpus('naughty-strings', (corpus) => {
    it('is answered in every place that takes a string', { timeout: 120_000 }, async () => {
      for (const [index, text] of (isWhole ? payloadsOf : hardPayloadsOf)(corpus, 'blns.json').entries()) {
        if (index % 100 === 0) await renewSessions();
        const [tool, expression, order, refund, document] = await statusesOf(placesOf(text));
        // Each of these is a call and has its outcome.
        const outcomes = [tool, expression, order, refund, document];
        expect({ text, outcomes }).toEqual({ text, outcomes: outcomes.map(() => 200) });
      }
    });
  });

  describeCorpus('json-test-suite/test_parsing', (corpus) => {
    it('is answered as the body of every route that takes one', { timeout: 120_000 }, async () => {
      await renewSessions();
      const routes: [string, string][] = [
        ...providerBodies.map(({ provider }): [string, string] => [`/v1/calls/${provider}`, session(4)]),
        ...([
          ['/v1/calls', session(4)],
          ['/v1/sessions', key()],
          ['/admin/callers', ADMIN_TOKEN],
          ['/mcp', session(4)],
        ] as [string, string][]),
      ];
      for (const [place, name] of corpus.names.entries()) {
        const bytes = corpus.bytes(name);
        // Each goes to one route in turn, or to all.
        const asked = routes
          .filter((_, route) => isWhole || route === place % routes.length)
          .map(([path, token]): Asked => ({
            ...post('', path, token, null),
            body: { kind: 'bytes', bytes, inPieces: false },
          }));
        const statuses = await statusesOf(asked);
        if (name.startsWith('n_'))
          expect({ name, taken: statuses.filter((status) => (status ?? 0) < 400) }).toEqual({ name, taken: [] });
      }
    });
  });
});
