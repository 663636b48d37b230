/**
 * Credentials that are compared with a stored hash: API keys and the operator's token. Comparing digests of equal
 * length in constant time leaks neither content nor length.
 */
import { timingSafeEqual } from 'node:crypto';
import { base64url } from 'jose';
import { sha256Hex } from '../canonical.ts';
import type { Config } from '../env.ts';

/** 256 random bits cannot be guessed, so a plain SHA-256 is enough; a slow hash would help a flood. */
const SECRET_BYTES = 32;
/** 80 random bits, so that ids do not collide and reveal nothing. */
const CALLER_ID_CHARACTERS = 16;
/** RFC 4648's base32 in lower case: 32 characters, so `%` has no bias. */
const CALLER_ID_ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567';

const API_KEY = /^tgk_(?<callerId>[a-z0-9]{16})_[A-Za-z0-9_-]{43}$/;

/** The key is shown once; only its hash is kept. */
export interface NewApiKey {
  readonly key: string;
  readonly hash: string;
}

/** The caller that a request claims to be, unproved until the hash is compared. */
export interface PresentedApiKey {
  readonly callerId: string;
  readonly hash: string;
}

export function newCallerId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(CALLER_ID_CHARACTERS));
  return Array.from(bytes, (byte) => CALLER_ID_ALPHABET.charAt(byte % CALLER_ID_ALPHABET.length)).join('');
}

/** The hash covers the caller id too, so a hash copied to another caller's row matches no key. */
export function newApiKey(callerId: string): NewApiKey {
  const secret = base64url.encode(crypto.getRandomValues(new Uint8Array(SECRET_BYTES)));
  const key = `tgk_${callerId}_${secret}`;
  return { key, hash: sha256Hex(key) };
}

/** Null if the text does not have the form of a key, which saves a look-up. */
export function readApiKey(text: string): PresentedApiKey | null {
  const callerId = API_KEY.exec(text)?.groups?.['callerId'];
  return callerId === undefined ? null : { callerId, hash: sha256Hex(text) };
}

/** Compares two hashes, or the random bits of two links, in constant time. */
export function sameHash(a: string, b: string): boolean {
  const encoder = new TextEncoder();
  const [left, right] = [encoder.encode(a), encoder.encode(b)];
  return left.byteLength === right.byteLength && timingSafeEqual(left, right);
}

export function isAdminToken(candidate: string, config: Pick<Config, 'adminToken'>): boolean {
  return sameHash(sha256Hex(candidate), sha256Hex(config.adminToken));
}
