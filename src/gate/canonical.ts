/** Canonical bytes and the hashes over them: call keys, effect keys and the audit chain stand on these few functions. */
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
 * SHA-256 of the text's UTF-8, in lower-case hex. Synchronous on purpose: an awaited digest lets a second row take the same
 * predecessor, and the audit chain forks.
 */
export function sha256Hex(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest('hex');
}

/** The identity of a JSON value: SHA-256 of its RFC 8785 form. */
export function hashOf(value: JsonValue): string {
  return sha256Hex(canonicalJson(value));
}

/** Lower-case, two digits a byte. */
export function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Sizes are limited, stored and told in UTF-8 bytes. */
export function byteLength(text: string): number {
  return new TextEncoder().encode(text).byteLength;
}
