/** Good requests of approvers, operators and passers-by. */
import type { JsonObject } from '../../src/gate/json.ts';
import { ADMIN_TOKEN, ORIGIN } from './target.ts';
import { APPROVERS, TOOLS, type Make } from './pool.ts';
import { bodiless, get, post } from './request.ts';

export const page: Make = ({ links }, random) => {
  const { id, token } = links.length > 0 ? random.pick(links) : { id: 'apr_0', token: 'x' };
  return get('GET /approvals/{id}', `/approvals/${id}`, null, [['t', token]]);
};

export const decide: Make = (pool, random) => {
  const { id, token } = pool.links.length > 0 ? random.pick(pool.links) : { id: 'apr_0', token: 'x' };
  const asked = pool.approvals.find((approval) => approval.id === id);
  const cents = String(asked?.amount_cents ?? 0).padStart(3, '0');
  const fields: [string, string][] = [
    ['decision', random.pick(['approve', 'approve', 'reject'])],
    ['phrase', `${cents.slice(0, -2)}.${cents.slice(-2)}`],
    ['note', random.pick(['', 'Photos seen.', 'see https://pay.example'])],
    ['shown', asked === undefined ? '' : pool.shown(asked.order_id)],
  ];
  const headers: [string, string][] = [
    ['origin', ORIGIN],
    ['content-type', 'application/x-www-form-urlencoded'],
  ];
  return {
    route: 'POST /approvals/{id}',
    method: 'POST',
    path: `/approvals/${id}`,
    query: [['t', token]],
    headers,
    body: { kind: 'form', fields },
  };
};

export const newCaller: Make = (_, random) =>
  post('POST /admin/callers', '/admin/callers', ADMIN_TOKEN, {
    name: 'Shop two',
    allowed_tools: TOOLS,
    approvers: APPROVERS,
    customer_scope: 'any',
    max_steps: 200,
    max_duplicate_calls: 20,
    max_refund_cents: random.pick([0, 100, 50_000]),
    max_session_refund_cents: random.pick([null, 100_000]),
    approval_ttl_seconds: 3_600,
  });

export const changeCaller: Make = ({ callers }, random) => {
  const change = random.pick<JsonObject>([
    { name: 'Shop three' },
    { confirm_above_cents: 1_000 },
    { max_steps: 900 },
    { approvers: [...APPROVERS] },
    { max_session_refund_cents: null },
    {},
  ]);
  return {
    ...post('PATCH /admin/callers/{id}', `/admin/callers/${random.pick(callers).caller_id}`, ADMIN_TOKEN, change),
    method: 'PATCH',
  };
};

export const rotate: Make = ({ callers }, random) =>
  post('POST /admin/callers/{id}/rotate', `/admin/callers/${random.pick(callers).caller_id}/rotate`, ADMIN_TOKEN, {
    grace_seconds: 604_800,
  });

export const operate: Make = ({ approvals }, random) => {
  const id = approvals.length > 0 ? random.pick(approvals).id : 'apr_0';
  const action = random.pick(['resend', 'withdraw']);
  return bodiless(post(`POST /admin/approvals/{id}/${action}`, `/admin/approvals/${id}/${action}`, ADMIN_TOKEN, null));
};

const LISTS: [string, string[]][] = [
  ['/admin/callers', []],
  ['/admin/approvals', ['status', 'caller_id', 'cursor', 'limit']],
  ['/admin/audit', ['session_id', 'caller_id', 'tool', 'code', 'from', 'to', 'cursor', 'limit']],
  ['/admin/audit/heads', ['cursor']],
  ['/admin/ledger', ['cursor', 'limit']],
];

export const list: Make = ({ callers, sessions, cursors }, random) => {
  const values: Record<string, () => string> = {
    status: () => random.pick(['pending', 'executed', 'failed']),
    caller_id: () => random.pick(callers).caller_id,
    session_id: () => random.pick(sessions).session_id,
    tool: () => random.pick(TOOLS),
    code: () => random.pick(['OK', 'POLICY_LIMIT']),
    from: () => '2026-01-01T00:00:00Z',
    to: () => '2099-01-01T00:00:00%2B02:00',
    cursor: () => (cursors.length > 0 ? random.pick(cursors) : 'WyJhIl0'),
    limit: () => String(random.pick([1, 3, 20])),
  };
  const [path, names] = random.pick(LISTS);
  const query = names.flatMap((name): [string, string][] =>
    random.chance(0.25) ? [[name, values[name]?.() ?? '']] : [],
  );
  const asked = get(`GET ${path}`, path, ADMIN_TOKEN, query);
  return path === '/admin/audit' && random.chance(0.2)
    ? { ...asked, headers: [...asked.headers, ['accept', 'application/x-ndjson']] }
    : asked;
};

export const open: Make = (_, random) => {
  const path = random.pick([
    '/healthz',
    '/readyz',
    '/docs',
    '/docs/problems',
    '/docs/problems/not-found',
    '/openapi.json',
    '/llms.txt',
    '/',
    '/nowhere',
  ]);
  return get('GET the open routes', path, null);
};
