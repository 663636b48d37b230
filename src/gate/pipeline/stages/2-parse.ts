/** Stage 2: the arguments are exactly one JSON object. Refused, never repaired: a repaired call is one nobody proposed. */
import { byteLength, canonicalJson, hashOf } from '../../canonical.ts';
import type { JsonObject } from '../../json.ts';
import { MAX_ARGUMENTS_BYTES, TOO_LARGE, parseObjectText } from '../../json.ts';
import type { ParsedCall, RawCall, ResolvedCall, Step } from '../calls.ts';

type Asked = Pick<RawCall, 'tool' | 'arguments' | 'defect'>;

export type Reading = { ok: true; value: JsonObject } | { ok: false; reason: string };

export function parse(call: ResolvedCall): Step<ParsedCall> {
  if (call.defect !== undefined) return { ok: false, refusal: call.defect };
  return call.reading.ok
    ? { ok: true, call: { ...call, args: call.reading.value } }
    : { ok: false, refusal: { code: 'INVALID_JSON', reason: call.reading.reason } };
}

/** Text goes through the strict reader; an object was read strictly with its request, so only its size is judged here. */
export function readArguments(raw: unknown): Reading {
  if (raw === undefined) return { ok: true, value: {} };
  if (typeof raw === 'string') return parseObjectText(raw);
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw))
    return { ok: false, reason: 'send an object, or a string that holds one' };
  const value = raw as JsonObject;
  return byteLength(canonicalJson(value)) > MAX_ARGUMENTS_BYTES
    ? { ok: false, reason: TOO_LARGE }
    : { ok: true, value };
}

/**
 * Equal for the same tool and equal arguments, however they were written; falls back to the raw text where it does not parse.
 * A call with a defect is another call than the same one without, so neither is answered as a retry of the other.
 */
export function fingerprintOf({ tool, arguments: raw, defect }: Asked, reading: Reading): string {
  const flaw = defect === undefined ? [] : [defect.code];
  if (reading.ok) return hashOf([...flaw, 'parsed', tool, reading.value]);
  return hashOf([...flaw, 'raw', tool, typeof raw === 'string' ? raw.toWellFormed() : JSON.stringify(raw ?? null)]);
}
