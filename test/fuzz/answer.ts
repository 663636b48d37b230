/** What every answer must be like, whatever was asked. */
import { base64url } from 'jose';
import { parseStrictJson } from '../../src/gate/json.ts';
import { ADMIN_TOKEN, SECRETS } from './target.ts';
import { registry } from '../support/tools.ts';
import { APPROVERS } from './pool.ts';
import { header, type Asked } from './request.ts';

export type Answer = { status: number; headers: Headers; text: string };

/** Nothing fails in a target but the other system, which answers anything: no input may be answered as if something had. */
export const isTrouble = (code: string, tool: string): boolean =>
  code === 'INTERNAL_ERROR' || (code === 'UPSTREAM_UNAVAILABLE' && registry.get(tool)?.external == null);
/** In JSON, or in a text inside it. */
const TELLS_BUG = /"code\\*":\\*"INTERNAL_ERROR/;
const TELLS_OUTAGE = /"code\\*":\\*"UPSTREAM_UNAVAILABLE/;

type Rule = [name: string, holds: (answer: Answer, asked: Asked) => boolean];

const typeOf = ({ headers }: Answer): string => headers.get('content-type') ?? '';
const isJson = (answer: Answer): boolean => /^application\/(?:problem\+)?json/.test(typeOf(answer));

const isOperators = (asked: Asked): boolean => header(asked, 'authorization')?.includes(ADMIN_TOKEN) === true;

/** What could act in a page: no page of ours has any of it. */
const ACTIVE =
  /<(?:script|iframe|object|embed|img|svg|base|meta http-equiv)|<[^>]* on\w+=|<[^>]*(?:href|src|action)="?\s*(?:javascript|data):/i;

const RULES: Rule[] = [
  ['no 5xx', ({ status }) => status < 500],
  ['no trouble', ({ text }) => !TELLS_BUG.test(text) && (!TELLS_OUTAGE.test(text) || text.includes('refund_payment'))],
  ['a request id', ({ headers }) => /^[0-9a-f-]{36}$/.test(headers.get('x-request-id') ?? '')],
  ['nosniff', ({ headers }) => headers.get('x-content-type-options') === 'nosniff'],
  ['nothing about CORS', ({ headers }) => ![...headers.keys()].some((name) => name.startsWith('access-control'))],
  ['no cookie', ({ headers }) => !headers.has('set-cookie')],
  ['a content policy', ({ headers }) => /default-src 'none'/.test(headers.get('content-security-policy') ?? '')],
  ['strict JSON', (answer) => answer.text === '' || !isJson(answer) || parseStrictJson(answer.text).ok],
  [
    'a problem that says its status',
    (answer) =>
      answer.text === '' ||
      !typeOf(answer).startsWith('application/problem+json') ||
      (JSON.parse(answer.text) as { status: number }).status === answer.status,
  ],
  ['how to authenticate', ({ status, headers }) => status !== 401 || headers.has('www-authenticate')],
  [
    'a way that is not chosen by the client',
    ({ headers }) => /^\/approvals\/[\w-]+\?t=[\w.-]+$/.test(headers.get('location') ?? '/approvals/a?t=b'),
  ],
  ['no secret', ({ text }) => !SECRETS.some((secret) => text.includes(secret))],
  [
    'no address but for the operator',
    ({ text }, asked) => isOperators(asked) || !APPROVERS.some((address) => text.includes(address)),
  ],
  ['no script', (answer) => !typeOf(answer).startsWith('text/html') || !ACTIVE.test(answer.text)],
  [
    'one frame',
    (answer, { path }) =>
      answer.text === '' ||
      !path.startsWith('/v1/') ||
      !typeOf(answer).startsWith('text/plain') ||
      /^<tool_observation name="[\w.:-]*" id="[\w.:-]*">[^<>]*<\/tool_observation>$/.test(answer.text),
  ],
];

/** The rules an answer breaks. */
export const broken = (answer: Answer, asked: Asked): string[] =>
  RULES.filter(([, holds]) => !holds(answer, asked)).map(([name]) => name);

/** What a line of the log must not hold: credentials, links, addresses. */
const UNLOGGED = /tgk_|eyJ|[?&]t=|@approver\.example|Photos seen|([abc])\1{63}/;

export const leaking = (lines: readonly string[]): string[] => lines.filter((line) => UNLOGGED.test(line));

export type Told = {
  uid: string;
  step: number;
  code: string;
  call_id: string;
  tool: string;
  data?: { refunded_cents?: unknown };
};

type Outcome = Omit<Told, 'uid' | 'step'> & {
  step: number | null;
  approval?: { id: string; arguments: Record<string, unknown> };
};

const isOutcome = (value: unknown): value is Outcome =>
  typeof value === 'object' && value !== null && 'step' in value && 'code' in value && 'call_id' in value;

const framedIn = (text: string): unknown =>
  JSON.parse(/^<tool_observation [^>]*>(.*)<\/tool_observation>$/.exec(text)?.[1] ?? 'null');

type Body = { outcomes?: unknown[]; result?: { content?: { text?: string }[] } };

/** The outcomes in an answer, in whichever form: JSON, a provider's, MCP's, or what the model reads. */
export function outcomesIn({ status, text, headers }: Answer): Outcome[] {
  const type = headers.get('content-type') ?? '';
  if (status !== 200 || text === '') return [];
  if (type.startsWith('text/plain')) return [framedIn(text)].filter(isOutcome);
  if (!type.startsWith('application/json')) return [];
  const bodies = [JSON.parse(text) as Body | Body[]].flat();
  return bodies
    .flatMap((body) => [
      ...(body.outcomes ?? [body]),
      ...(body.result?.content ?? []).map((part) => framedIn(part.text ?? '')),
    ])
    .filter(isOutcome);
}

/** The uid that a session token names. */
export function uidOf(authorization: string | null): string | null {
  const payload = /^bearer +[\w-]+\.([\w-]+)\./i.exec(authorization ?? '')?.[1];
  if (payload === undefined) return null;
  const { uid } = JSON.parse(new TextDecoder().decode(base64url.decode(payload))) as { uid?: string };
  return uid ?? null;
}
