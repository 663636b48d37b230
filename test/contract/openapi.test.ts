/** docs/specification.md#requests-and-problems: what `/openapi.json` says of every route is what a running Worker answers. */
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { linkInMail, shownOnPage } from '../../scripts/demo-approval.ts';
import { providerBodies } from '../support/provider-bodies.ts';
import { ORDERS, type Answer, type Json, type Sent } from './client.ts';
import { sharedWorker } from './shared-worker.ts';
import { conformityTo } from './conformity.ts';

const ORDER = { order_id: ORDERS.openapi };
const REFUND = { ...ORDER, amount_cents: 2_590, currency: 'BRL', reason: 'damaged' };
const ALL_TOOLS = [
  'calculator',
  'count_documents',
  'get_order',
  'lookup_document',
  'refund_order',
  'search_transactions',
];
const TEXT = { Accept: 'text/plain' };

const client = sharedWorker();
let conformity: ReturnType<typeof conformityTo>;
const misfits: string[] = [];

beforeAll(async () => {
  conformity = conformityTo((await client.send('/openapi.json')).json);
});

/** Sends, and judges what comes back. */
async function ask(method: string, path: string, sent: Omit<Sent, 'method'> = {}): Promise<Answer> {
  const answer = await client.send(path, { ...sent, method });
  misfits.push(...conformity.misfits({ method, path, ...answer }));
  return answer;
}

const asOperator = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
  ask(method, path, { credential: client.worker.adminToken, headers, ...(body === undefined ? {} : { body }) });

async function newCaller(): Promise<{ caller_id: string; api_key: string }> {
  const body = { name: 'Shop', allowed_tools: ALL_TOOLS, approvers: ['ana@shop.test'], max_steps: 50 };
  return (await asOperator('POST', '/admin/callers', body)).json as { caller_id: string; api_key: string };
}

async function askAsHost(api_key: string): Promise<{ token: string; session_id: string }> {
  const open = (body: Json, credential = api_key) => ask('POST', '/v1/sessions', { credential, body });
  const { json } = await open({ customer_id: 'CUS-1' });
  const { session_id } = json;
  await open({ session_id });
  await open({ session_id, max_steps: 51 });
  await open({ session_id, customer_id: 'CUS-2' });
  await open({ tools: 'all' });
  await open({}, 'tgk_wrong');
  const ended = (await open({ customer_id: 'CUS-1' })).json['session_id'];
  for (const id of [ended, 'unknown']) await ask('DELETE', `/v1/sessions/${String(id)}`, { credential: api_key });
  return json as { token: string; session_id: string };
}

async function askAsAgent(credential: string): Promise<void> {
  const call = (body: unknown, headers = {}) => ask('POST', '/v1/calls', { credential, body, headers });
  for (const provider of [
    '',
    ...providerBodies.map((one) => `?provider=${one.provider}`),
    '?provider=mcp',
    '?provider=x',
  ])
    await ask('GET', `/v1/tools${provider}`, { credential });
  await call({ tool: 'get_order', arguments: ORDER, call_id: 'c1' });
  await call({ tool: 'calculator', arguments: '{"expression":"1 + 1"}' }, TEXT);
  await call({ tool: 'calculator', arguments: { expression: '1 / 0' } });
  await call({ tool: 'count_documents', arguments: { status: 'current' } });
  await call({ tool: 'lookup_document', arguments: { doc_id: 'kc-warranty-v2' } });
  await call({ tool: 'search_transactions', arguments: { account_id: 'ACC-98124501', start_date: '2020-01-01' } });
  await call({ tool: 'refund_order', arguments: { ...REFUND, amount_cents: 25.9 } });
  await call({ tool: 'refund_order', arguments: '{' });
  await call({ tool: 'cancel_everything' });
  await call('{');
  await call({});
  await call({ tool: 'x'.repeat(65_536) });
  await call({ tool: 'get_order' }, { 'Content-Type': 'text/plain' });
  for (const { provider, item, body, argumentsAre } of providerBodies) {
    const args = argumentsAre === 'text' ? JSON.stringify(ORDER) : ORDER;
    const response = body([item({ id: 'call_1', name: 'get_order', arguments: args })]);
    await ask('POST', `/v1/calls/${provider}`, { credential, body: response });
  }
  await ask('POST', '/v1/calls/unknown', { credential, body: {} });
  const initialize = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } };
  await ask('POST', '/mcp', { credential, body: { jsonrpc: '2.0', id: 1, method: 'initialize', params: initialize } });
  await ask('POST', '/mcp', { credential, body: { jsonrpc: '2.0', method: 'notifications/initialized' } });
  await ask('POST', '/mcp', { credential, body: { jsonrpc: '2.0', id: 2, method: 'tools/list' } });
  await ask('POST', '/mcp', { credential, body: { jsonrpc: '2.0', id: 3, method: 'nothing' } });
  await ask('POST', '/mcp', { credential, body: {} });
  await ask('POST', '/mcp', { credential, body: [], headers: { Origin: 'https://evil.test' } });
}

const askForRefund = async (credential: string, amount_cents: number): Promise<string> => {
  const body = { tool: 'refund_order', arguments: { ...REFUND, amount_cents } };
  const { json } = await ask('POST', '/v1/calls', { credential, body });
  return (json['approval'] as { id: string }).id;
};

async function askAsApprover(credential: string): Promise<void> {
  const id = await askForRefund(credential, 2_590);
  await ask('GET', `/v1/approvals/${id}`, { credential });
  await ask('GET', `/v1/approvals/${id}?wait=99`, { credential });
  await ask('GET', '/v1/approvals/unknown', { credential });
  const link = await linkInMail(client.worker, id);
  const path = link.slice(client.worker.url.length);
  const shown = await shownOnPage(link);
  await ask('GET', path);
  await ask('GET', `/approvals/${id}?t=wrong`);
  const decide = (form: Record<string, string>, headers: Record<string, string> = { Origin: client.worker.url }) =>
    ask('POST', path, {
      body: new URLSearchParams({ decision: 'approve', shown, ...form }).toString(),
      headers: { 'Content-Type': 'application/x-www-form-urlencoded', ...headers },
    });
  await decide({ phrase: '25.90' }, { Origin: 'https://evil.test' });
  await decide({ phrase: '1' });
  expect((await decide({ phrase: '25.90', shown: 'another' })).status).toBe(409);
  expect((await decide({ phrase: '25.90' })).status).toBe(303);
  await decide({ phrase: '25.90' });
  await ask('GET', path);
  const { json } = await ask('GET', `/v1/approvals/${id}`, { credential });
  expect(json).toMatchObject({ status: 'executed', outcome: { ok: true } });
  await ask('GET', `/v1/approvals/${id}`, { credential, headers: TEXT });
}

async function askAsOperator(token: string, caller_id: string): Promise<void> {
  const id = await askForRefund(token, 500);
  await vi.waitFor(async () => {
    const { json } = await client.send(`/admin/approvals?caller_id=${caller_id}`, {
      credential: client.worker.adminToken,
    });
    expect(JSON.stringify(json)).toContain(id);
  }, 10_000);
  for (const action of ['resend', 'withdraw', 'resend']) await asOperator('POST', `/admin/approvals/${id}/${action}`);
  await asOperator('POST', '/admin/approvals/unknown/resend');
  for (const list of ['approvals', 'audit', 'audit/heads', 'ledger']) {
    // An empty list would say nothing of its rows.
    expect((await asOperator('GET', `/admin/${list}`)).text).toContain('"uid"');
    await asOperator('GET', `/admin/${list}?nothing=1`);
  }
  await asOperator('GET', '/admin/audit?limit=2', undefined, { Accept: 'application/x-ndjson' });
  await asOperator('GET', '/admin/callers');
  await ask('GET', '/admin/callers');
  await asOperator('POST', '/admin/callers', { name: '' });
  await asOperator('PATCH', `/admin/callers/${caller_id}`, { max_steps: 60 });
  await asOperator('POST', `/admin/callers/${caller_id}/rotate`, { grace_seconds: 0 });
  await asOperator('POST', `/admin/callers/${caller_id}/rotate`, { grace_seconds: 0, end_sessions: true });
  await asOperator('GET', '/admin/effects');
  await asOperator('GET', '/admin/effects?state=odd');
  const evidence = 'Looked up in the dashboard.';
  await asOperator('POST', `/admin/effects/${'0'.repeat(64)}/settle`, { applied: false, evidence });
  await asOperator('POST', `/admin/effects/${'0'.repeat(64)}/settle`, { applied: true, evidence });
  await asOperator('POST', `/admin/effects/${'0'.repeat(64)}/resend`);
  const paused = await asOperator('POST', '/admin/pauses', { scope: 'tool:calculator', reason: 'To try it.' });
  await asOperator('POST', '/admin/pauses', { scope: 'tool:unknown', reason: 'To try it.' });
  await asOperator('GET', '/admin/pauses');
  await asOperator('DELETE', `/admin/pauses/${String(paused.json['id'])}`);
  await asOperator('DELETE', '/admin/pauses/unknown');
  await asOperator('DELETE', `/admin/callers/${caller_id}`);
  await asOperator('DELETE', '/admin/callers/unknown');
}

describe('GET /openapi.json', () => {
  it('says of every route what the route answers', async () => {
    for (const path of ['/docs', '/docs/problems', '/docs/problems/unauthorized', '/docs/problems/unknown'])
      await ask('GET', path);
    for (const path of ['/openapi.json', '/llms.txt', '/healthz', '/readyz']) await ask('GET', path);
    const { caller_id, api_key } = await newCaller();
    const { token } = await askAsHost(api_key);
    await askAsAgent(token);
    await askAsApprover(token);
    await askAsOperator(token, caller_id);
    expect(misfits).toEqual([]);
    expect(conformity.unasked()).toEqual([]);
  });
});
