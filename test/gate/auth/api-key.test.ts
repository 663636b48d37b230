import { describe, expect, it } from 'vitest';
import { isAdminToken, newApiKey, newCallerId, readApiKey, sameHash } from '../../../src/gate/auth/api-key.ts';
import { sha256Hex } from '../../../src/gate/canonical.ts';

const many = Array.from({ length: 500 }, () => newCallerId());

describe('newCallerId', () => {
  it('gives 16 characters of a-z and 0-9, never the same', () => {
    for (const id of many) expect(id).toMatch(/^[a-z0-9]{16}$/);
    expect(new Set(many).size).toBe(many.length);
  });
});

describe('newApiKey', () => {
  it('gives a key that reads back as its caller and its hash', () => {
    for (const callerId of many) {
      const { key, hash } = newApiKey(callerId);
      expect(key).toMatch(/^tgk_[a-z0-9]{16}_[A-Za-z0-9_-]{43}$/);
      expect(readApiKey(key)).toEqual({ callerId, hash });
    }
  });

  it('keeps only the SHA-256 of the whole key', () => {
    const { key, hash } = newApiKey('a'.repeat(16));
    expect(hash).toBe(sha256Hex(key));
    expect(newApiKey('a'.repeat(16)).key).not.toBe(key);
  });
});

describe('readApiKey', () => {
  const key = `tgk_${'a'.repeat(16)}_${'B'.repeat(43)}`;

  it.each([
    ['nothing', ''],
    ['another prefix', key.replace('tgk', 'TGK')],
    ['a short id', key.replace('a', '')],
    ['an upper-case id', key.replace('a', 'A')],
    ['a short secret', key.slice(0, -1)],
    ['a long secret', `${key}B`],
    ['a character outside base64url', `${key.slice(0, -1)}=`],
    ['a line feed after it', `${key}\n`],
    ['a blank before it', ` ${key}`],
    ['a look-alike letter', key.replace('a', 'а')],
  ])('refuses %s', (_, text) => {
    expect(readApiKey(text)).toBeNull();
  });

  it('gives another hash for another secret or another caller', () => {
    const hashes = [key, `${key.slice(0, -1)}C`, key.replace('a', 'b')].map((text) => readApiKey(text)?.hash);
    expect(new Set(hashes).size).toBe(3);
  });
});

describe('sameHash', () => {
  it('tells equal from unequal', () => {
    expect(sameHash(sha256Hex('a'), sha256Hex('a'))).toBe(true);
    expect(sameHash(sha256Hex('a'), sha256Hex('b'))).toBe(false);
  });

  it('takes hashes of unequal length for unequal instead of throwing', () => {
    expect(sameHash('', sha256Hex('a'))).toBe(false);
    expect(sameHash(`${sha256Hex('a')}0`, sha256Hex('a'))).toBe(false);
  });
});

describe('isAdminToken', () => {
  const config = { adminToken: 'ab'.repeat(32) };

  it('is true only for the configured text', () => {
    expect(isAdminToken('ab'.repeat(32), config)).toBe(true);
    for (const candidate of [
      '',
      'a',
      'AB'.repeat(32),
      `${config.adminToken} `,
      sha256Hex(config.adminToken),
      '\ud83d',
    ]) {
      expect(isAdminToken(candidate, config)).toBe(false);
    }
  });
});
