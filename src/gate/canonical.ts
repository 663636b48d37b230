/** Canonical JSON and the hashes of call keys, effect keys and the audit chain. */
import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { JsonValue } from './json.ts';

/** RFC 8785: equal values give equal text, whatever order their members came in. Throws on a lone surrogate. */
export function canonicalJson(value: JsonValue): string {
  const text = canonicalize(value);
  if (text === undefined) throw new TypeError('Only a JSON value has a canonical form');
  return text;
}

/**
 * SHA-256 of the UTF-8 text in lower-case hex. Synchronous, because during an awaited digest a second row could take
 * the same predecessor and fork the audit chain.
 */
export function sha256Hex(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest('hex');
}

/** SHA-256 of the RFC 8785 form. */
export function hashOf(value: JsonValue): string {
  return sha256Hex(canonicalJson(value));
}

export function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

export function byteLength(text: string): number {
  return new TextEncoder().encode(text).byteLength;
}
