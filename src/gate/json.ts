/**
 * The one JSON reader for what strangers send: HTTP bodies and the `arguments` strings inside them
 * (docs/specification.md#stage-2-parse). Nothing is repaired, because a guess about what was meant is a decision about money. A parser that lets the last of two equal
 * names win, or rounds a number, lets the audit and the ledger read one text in two ways.
 * It knows nothing of schemas: integers beyond 2^53 and missing members are theirs to refuse.
 */
import { byteLength } from './canonical.ts';
import { flawIn } from './json-grammar.ts';

export type JsonValue = null | boolean | number | string | JsonValue[] | JsonObject;
export type JsonObject = { [name: string]: JsonValue };

/** `reason` tells a model what is wrong and where, and holds no input. */
export type JsonReading<T extends JsonValue> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly reason: string };

/** The most an `arguments` text may weigh, as UTF-8: far above any tool's schema, small enough to keep and to hash. */
export const MAX_ARGUMENTS_BYTES = 32 * 1024;
/** Why more is refused, and what to do: one wording for texts and objects. */
export const TOO_LARGE = `more than ${MAX_ARGUMENTS_BYTES} bytes are not read; send less`;

/**
 * Reads exactly one JSON value (RFC 8259, with I-JSON's unique names and whole characters, RFC 7493). Refused: text around
 * the value, comments, NaN, numbers out of range or integers only by rounding, a member name twice (unescaped), half a
 * surrogate pair, nesting beyond 64, a byte order mark. `__proto__` is a name like any other. Time is linear.
 */
export function parseStrictJson(text: string): JsonReading<JsonValue> {
  const reason = flawIn(text);
  if (reason !== null) return { ok: false, reason };
  return { ok: true, value: JSON.parse(text) as JsonValue };
}

/**
 * Reads the `arguments` of a call: exactly one JSON object, `""` being `{}`. Refused besides: more than
 * {@link MAX_ARGUMENTS_BYTES}, any other value; an object encoded twice is told so, for that is what models do.
 */
export function parseObjectText(text: string): JsonReading<JsonObject> {
  if (text === '') return { ok: true, value: {} };
  if (byteLength(text) > MAX_ARGUMENTS_BYTES) {
    return { ok: false, reason: TOO_LARGE };
  }
  const reading = parseStrictJson(text);
  if (!reading.ok) return reading;
  if (isJsonObject(reading.value)) return { ok: true, value: reading.value };
  return { ok: false, reason: notAnObject(reading.value) };
}

/** Tells an object from arrays and null, which `typeof` does not. */
export function isJsonObject(value: JsonValue): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function notAnObject(value: JsonValue): string {
  if (typeof value === 'string' && /^\s*[{["]/.test(value)) {
    return 'the text is a JSON string that holds JSON; send the object itself';
  }
  const kind = Array.isArray(value) ? 'array' : value === null ? 'null' : typeof value;
  return `the text is a JSON ${kind}; send one JSON object`;
}
