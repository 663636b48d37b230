/**
 * The API of another company as a tool declares it. A recipe says what that API promises about repeated requests; the gate
 * relies on nothing else (docs/specification.md#effects-in-other-systems). Illegal recipes are refused when the module loads.
 */
import { base64url } from 'jose';
import { sha256Hex } from '../canonical.ts';
import { isJsonObject, type JsonObject } from '../json.ts';
import type { Backend, BackendKey, BackendRecipe, Outgoing } from '../ports.ts';

const DEFAULT_QUIET_MS = 900_000;
const DEFAULT_TRY_MS = 10_000;
const MAX_TRY_MS = 15_000;
/** 22 characters of base64url hold 128 bits. */
const MIN_KEY_CHARACTERS = 22;
/** A resend may leave this long before the API may forget the key. */
const MIN_WINDOW_MS = 60_000;
const UUID_CHARACTERS = 36;

/** Refuses a recipe under which a repeated request could become a second effect. */
export function defineBackend(recipe: BackendRecipe): Backend {
  const backend = {
    ...recipe,
    quietMs: recipe.quietMs ?? DEFAULT_QUIET_MS,
    tryMs: recipe.tryMs ?? DEFAULT_TRY_MS,
  };
  const flaw = flawOf(backend);
  if (flaw !== null) throw new Error(`the backend ${recipe.name}: ${flaw}`);
  return backend;
}

function flawOf({ key, keepMs, quietMs, tryMs, refusals }: Backend): string | null {
  if (tryMs > MAX_TRY_MS) return `tryMs must be at most ${MAX_TRY_MS}`;
  if (tryMs > quietMs) return 'tryMs must not be longer than quietMs';
  if (key === null) return refusals === 'kept' ? "refusals: 'kept' needs a key to keep them under" : null;
  if ((key.header === undefined) === (key.body === undefined)) return 'the key travels in a header or in the body';
  if (key.max < MIN_KEY_CHARACTERS) return `a key of fewer than ${MIN_KEY_CHARACTERS} characters can be guessed`;
  if (key.format === 'uuid' && key.max < UUID_CHARACTERS) return `a UUID has ${UUID_CHARACTERS} characters`;
  if (keepMs < quietMs + MIN_WINDOW_MS) return `keepMs must be at least quietMs + ${MIN_WINDOW_MS}`;
  return null;
}

/**
 * The effect key as the API gets it: 64 hex digits as 43 characters of base64url, or as a UUID of version 8 (RFC 9562,
 * 5.8), cut to what the API takes. The same attempt always has the same key.
 */
export function wireKey(effectKey: string, key: BackendKey | null): string {
  if (key?.format === 'uuid') return uuidOf(effectKey);
  const bytes = Uint8Array.from(effectKey.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
  return base64url.encode(bytes).slice(0, key?.max);
}

function uuidOf(digits: string): string {
  const variant = ((Number.parseInt(digits.slice(16, 17), 16) & 0x3) | 0x8).toString(16);
  const parts = [
    digits.slice(0, 8),
    digits.slice(8, 12),
    `8${digits.slice(13, 16)}`,
    `${variant}${digits.slice(17, 20)}`,
  ];
  return [...parts, digits.slice(20, 32)].join('-');
}

/** What a tool asks to be sent. The gate writes the body and adds the key; the tool sets no header. */
export type ToolRequest = {
  method: 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  body?: { form: Record<string, string> } | { json: JsonObject };
};

/** Statuses with which an API judges a request. Every other one but 2xx says nothing about it. */
export const JUDGING: ReadonlySet<number> = new Set([400, 402, 404, 410, 422]);

const MAX_BODY_BYTES = 16 * 1024;
const METHODS = ['POST', 'PUT', 'PATCH', 'DELETE'];

/** The bytes of a request as they are stored and sent, each time the same. Throws where the tool's request is illegal. */
export function outgoingOf({ method, path, body }: ToolRequest, key: string, recipe: BackendKey | null): Outgoing {
  if (!METHODS.includes(method)) throw new Error(`a request with the method ${method} makes no effect`);
  assertPath(path);
  const text = bodyText(body, recipe?.body === undefined ? {} : { [recipe.body]: key });
  if (new TextEncoder().encode(text?.body ?? '').byteLength > MAX_BODY_BYTES)
    throw new Error(`a request has at most ${MAX_BODY_BYTES} bytes`);
  return { method, path, type: text?.type ?? null, body: text?.body ?? null };
}

function bodyText(body: ToolRequest['body'], keyed: Record<string, string>): { type: string; body: string } | null {
  if (body === undefined && Object.keys(keyed).length > 0) throw new Error('the key has no body to travel in');
  if (body === undefined) return null;
  if ('form' in body)
    return {
      type: 'application/x-www-form-urlencoded',
      body: new URLSearchParams({ ...body.form, ...keyed }).toString(),
    };
  return { type: 'application/json', body: JSON.stringify({ ...body.json, ...keyed }) };
}

/** A path that a URL parser reads as it is written: arguments of a model must not reach another route or host. */
export function assertPath(path: string): void {
  const isPlain =
    /^\/(?!\/)[\x21-\x7e]*$/.test(path) && !/[\\#]|\/\/|(?:^|\/)\.{1,2}(?:[/?]|$)|%2e|%2f|%5c/i.test(path);
  if (!isPlain || path.includes('..')) throw new Error('a path begins with one slash and has no "..", "//" or "\\"');
}

/** SHA-256 of what is sent: a resend must have the same. */
export const digestOf = ({ method, path, body }: Outgoing): string => sha256Hex(JSON.stringify([method, path, body]));

/** Parses a body as one JSON object; null where it is anything else. */
export function objectIn(text: string): JsonObject | null {
  try {
    const value = JSON.parse(text) as JsonObject;
    return isJsonObject(value) ? value : null;
  } catch {
    return null;
  }
}
