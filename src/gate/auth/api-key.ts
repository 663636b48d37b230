/**
 * Credentials that are compared with a stored hash: callers' API keys and the operator's token. Comparison is in constant
 * time over digests of equal length, so that neither content nor length leaks through timing. This file looks nothing up.
 */
import { timingSafeEqual } from 'node:crypto';
import { base64url } from 'jose';
import { sha256Hex } from '../canonical.ts';
import type { Config } from '../env.ts';

/** 256 random bits: beyond guessing, so a plain SHA-256 is enough to store; a slow hash would only serve a flood. */
const SECRET_BYTES = 32;
/** 80 random bits: no two callers share an id, and ids tell nothing. */
const CALLER_ID_CHARACTERS = 16;
/** 32 of the 36 allowed characters (RFC 4648's base32 in lower case), so that five bits of a byte choose without bias. */
const CALLER_ID_ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567';

const API_KEY = /^tgk_(?<callerId>[a-z0-9]{16})_[A-Za-z0-9_-]{43}$/;

/** A key as it was shown to the caller, once, and the only thing kept of it. */
export interface NewApiKey {
  readonly key: string;
  readonly hash: string;
}

/** Whose key a request claims to hold, and the hash to compare with the caller's. Proves nothing yet. */
export interface PresentedApiKey {
  readonly callerId: string;
  readonly hash: string;
}

export function newCallerId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(CALLER_ID_CHARACTERS));
  return Array.from(bytes, (byte) => CALLER_ID_ALPHABET.charAt(byte % CALLER_ID_ALPHABET.length)).join('');
}

/** The hash covers the whole key, caller id included: a hash copied to another caller's row opens nothing. */
export function newApiKey(callerId: string): NewApiKey {
  const secret = base64url.encode(crypto.getRandomValues(new Uint8Array(SECRET_BYTES)));
  const key = `tgk_${callerId}_${secret}`;
  return { key, hash: sha256Hex(key) };
}

/** Null for whatever has not a key's form, so that noise costs no look-up. */
export function readApiKey(text: string): PresentedApiKey | null {
  const callerId = API_KEY.exec(text)?.groups?.['callerId'];
  return callerId === undefined ? null : { callerId, hash: sha256Hex(text) };
}

/** Compares two hashes, or the bits of two links, in constant time; those of unequal length differ. */
export function sameHash(a: string, b: string): boolean {
  const encoder = new TextEncoder();
  const [left, right] = [encoder.encode(a), encoder.encode(b)];
  return left.byteLength === right.byteLength && timingSafeEqual(left, right);
}

/** Compares digests, never the texts: their lengths are equal whatever is presented. */
export function isAdminToken(candidate: string, config: Pick<Config, 'adminToken'>): boolean {
  return sameHash(sha256Hex(candidate), sha256Hex(config.adminToken));
}
