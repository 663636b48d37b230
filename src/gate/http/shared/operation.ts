/** How one operation of the HTTP surface is described: what it takes, answers and refuses with. */
import type * as z from 'zod';
import { PROBLEM_TYPES, type ProblemSlug } from './problem.ts';

/** Who may ask, and what proves it. */
export const CREDENTIALS = {
  caller: 'An API key (tgk_…): `Authorization: Bearer <key>`. Held by the host application, never by the agent.',
  agent: 'A session token: `Authorization: Bearer <token>`. Proposes calls; decides nothing.',
  operator: 'The operator token: `Authorization: Bearer <ADMIN_TOKEN>`.',
  approver: 'A signed link from a mail: `?t=<token>`. The only thing that decides.',
} as const;

export type Credential = keyof typeof CREDENTIALS;

/** The headers that a program may want to read. */
export const HEADERS = {
  'RateLimit-Policy': { pattern: '^"steps";q=\\d+$', description: 'Steps the session may take.' },
  RateLimit: { pattern: '^"steps";r=\\d+$', description: 'Steps that are left.' },
  'Toolgate-Audit': {
    pattern: '^\\d+:[0-9a-f]{64}$',
    description: "The call's audit row, as <seq>:<hash>: evidence that the host can keep.",
  },
  'WWW-Authenticate': { pattern: '^Bearer realm="toolgate"$', description: 'How to authenticate.' },
  'Retry-After': { pattern: '^\\d+$', description: 'Seconds to wait.' },
  'X-Request-Id': { pattern: '^[0-9a-f-]{36}$', description: 'Finds the request in log and audit.' },
  Location: { pattern: '^/', description: 'Where to look.' },
} as const;

export type HeaderName = keyof typeof HEADERS;

export type Answer = {
  description: string;
  /** Media type -> what is in it; null: a text of no further form. */
  content?: Record<string, z.ZodType | null>;
  headers?: readonly HeaderName[];
};

type Parameters = { [name: string]: z.ZodType };

export type Operation = {
  method: 'get' | 'post' | 'patch' | 'delete';
  /** With `{name}` for each member of `params`. */
  path: string;
  /** Generated clients name their functions by it. */
  id: string;
  summary: string;
  description?: string;
  credential: Credential | null;
  params?: Parameters;
  query?: Parameters;
  /** A JSON body. */
  body?: z.ZodType;
  /** A form's fields. */
  form?: z.ZodType;
  answers: Record<number, Answer>;
  /** Problems besides those that every operation has, and those that its credential and body bring. */
  problems: readonly ProblemSlug[];
};

export const json = (description: string, schema: z.ZodType, headers: readonly HeaderName[] = []): Answer => ({
  description,
  content: { 'application/json': schema },
  headers,
});

export const text = (description: string, mediaType: string): Answer => ({
  description,
  content: { [mediaType]: null },
});

/** All problems that this operation may answer with, each once, by their status. */
export function problemsOf({ path, credential, body, problems }: Operation): ProblemSlug[] {
  // What an approver's browser is told is a page.
  if (credential === 'approver') return ['misdirected', 'not-configured'];
  if (path === '/healthz') return [];
  return [
    ...new Set<ProblemSlug>([
      ...(body === undefined ? [] : (['invalid-json'] as const)),
      ...(credential === null ? [] : (['unauthorized', 'too-many-requests'] as const)),
      ...(body === undefined ? [] : (['body-too-large', 'unsupported-media-type', 'invalid-body'] as const)),
      ...problems,
      'misdirected',
      'not-configured',
      'unavailable',
    ]),
  ].toSorted((a, b) => PROBLEM_TYPES[a].status - PROBLEM_TYPES[b].status);
}
