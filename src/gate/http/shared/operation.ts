/** How an operation of the HTTP surface is described beside its route: what it takes, answers and refuses with. */
import type { MiddlewareHandler } from 'hono';
import { findTargetHandler } from 'hono/utils/handler';
import type { RouterRoute } from 'hono/types';
import * as z from 'zod';
import type { JsonObject } from '../../json.ts';
import type { ProblemSlug } from './problem.ts';

/** Who may ask, and what proves it. */
export type Credential = 'caller' | 'agent' | 'approver' | 'operator';

/** The headers that a program may want to read. */
export const HEADERS = {
  'RateLimit-Policy': { pattern: '^"steps";q=\\d+$', description: 'Steps the session may take.' },
  RateLimit: { pattern: '^"steps";r=\\d+$', description: 'Steps that are left.' },
  'Toolgate-Audit': {
    pattern: '^\\d+:[0-9a-f]{64}$',
    description: "The call's audit row, as <seq>:<hash>: evidence that the host can keep.",
  },
  'WWW-Authenticate': {
    pattern: '^Bearer realm="toolgate"(?:, error="invalid_token")?$',
    description: 'How to authenticate.',
  },
  'Retry-After': { pattern: '^\\d+$', description: 'Seconds to wait.' },
  'X-Request-Id': { pattern: '^[0-9a-f-]{36}$', description: 'Finds the request in log and audit.' },
  Location: { pattern: '^/', description: 'Where to look.' },
} as const;

export type HeaderName = keyof typeof HEADERS;

export type Answer = {
  description: string;
  /** Media type -> its schema; an empty object: text of no further form. */
  content?: Record<string, { schema?: z.ZodType }>;
  headers?: readonly HeaderName[];
};

export type Operation = {
  /** Generated clients name their functions by it. */
  id: string;
  summary: string;
  description?: string;
  credential: Credential | null;
  /** Parameters of the path that are not just any string. */
  params?: Record<string, z.ZodType>;
  query?: z.ZodObject;
  /** Headers of the request. */
  requestHeaders?: z.ZodObject;
  /** A JSON body. */
  body?: z.ZodType;
  /** The fields of a form. */
  form?: z.ZodType;
  answers: Record<number, Answer>;
  /** Problems besides those that its credential and its body bring and those that every operation has. */
  problems?: readonly ProblemSlug[];
};

export type DescribedRoute = Operation & { method: string; path: string };

const descriptions = new WeakMap<object, () => Operation>();

/** Describes the route it is put in. `operation` runs when somebody reads the description, so a start does not pay for its schemas. */
export function describeRoute(operation: () => Operation): MiddlewareHandler {
  const pass: MiddlewareHandler = (_c, next) => next();
  descriptions.set(pass, once(operation));
  return pass;
}

/** The descriptions of an app's routes, in the order of the routes, with paths as OpenAPI writes them. */
export const describedRoutes = (routes: readonly RouterRoute[]): DescribedRoute[] =>
  routes.flatMap(({ method, path, handler }) => {
    const operation = descriptions.get(findTargetHandler(handler));
    if (operation === undefined) return [];
    return [{ ...operation(), method: method.toLowerCase(), path: path.replaceAll(/:(\w+)/g, '{$1}') }];
  });

export const json = (description: string, schema: z.ZodType, headers: readonly HeaderName[] = []): Answer => ({
  description,
  content: { 'application/json': { schema } },
  headers,
});

export const text = (description: string, mediaType: string): Answer => ({
  description,
  content: { [mediaType]: {} },
});

/** An object whose members are somebody else's contract. */
export const anyObject = (description: string) => z.custom<JsonObject>().meta({ type: 'object', description });

/** Makes a value when it is first asked for: most isolates never show a schema that only describes an answer. */
export function once<Value>(make: () => Value): () => Value {
  let made: { value: Value } | undefined;
  return () => (made ??= { value: make() }).value;
}
