import { describe, expect, it } from 'vitest';
import { readConfig } from '../../src/gate/env.ts';

const hex = '0123456789abcdef'.repeat(4);
const base64 = 'ASNFZ4mrze8BI0VniavN7wEjRWeJq83vASNFZ4mrze8=';

const variables = {
  ADMIN_TOKEN: base64,
  TOOLGATE_SECRET: hex,
  PUBLIC_URL: 'https://gate.example',
  MAIL_FROM: 'gate@example.com',
};

const missing = (changes: Record<string, unknown>) => {
  const reading = readConfig({ ...variables, ...changes });
  return reading.ok ? [] : reading.flaws.map((flaw) => flaw.split(':')[0]);
};

const configOf = (changes: Record<string, unknown>) => {
  const reading = readConfig({ ...variables, ...changes });
  if (!reading.ok) throw new Error(reading.flaws.join());
  return reading.config;
};

describe('readConfig', () => {
  it('reads the variables and passes bindings over', () => {
    expect(readConfig({ ...variables, DB: {} })).toEqual({
      ok: true,
      config: {
        adminToken: base64,
        secret: hex,
        previousSecret: null,
        publicUrl: 'https://gate.example',
        loopback: false,
        mailFrom: 'gate@example.com',
      },
    });
  });

  it('names everything that is missing, once, and no value', () => {
    expect(readConfig({})).toEqual({
      ok: false,
      publicUrl: null,
      flaws: [
        'ADMIN_TOKEN: missing or not at least 32 bytes in hex or base64, as openssl rand -hex 32 makes them',
        'TOOLGATE_SECRET: missing or not at least 32 bytes in hex or base64, as openssl rand -hex 32 makes them',
        'PUBLIC_URL: missing or not an https origin without a path',
        'MAIL_FROM: missing or not an e-mail address',
      ],
    });
  });

  it.each([undefined, null, 'x', []])('fails closed on %j in place of an environment', (env) => {
    expect(readConfig(env).ok).toBe(false);
  });

  it.each([
    ['nothing', ''],
    ['31 bytes of hex', hex.slice(2)],
    ['hex of an odd length', `${hex}0`],
    ['30 bytes of hex, which would pass as base64', hex.slice(4)],
    ['30 bytes of base64', base64.slice(0, 40)],
    ['base64 without its padding', base64.slice(0, -1)],
    ['base64url', `${base64.slice(0, 42)}-=`],
    ['a passphrase', 'correct-horse-battery-staple-correct-horse-battery-staple'],
    ['a blank before hex', ` ${hex}`],
    ['a line feed after hex', `${hex}\n`],
    ['a number', 1],
  ])('counts a secret of %s as missing', (_, secret) => {
    expect(missing({ ADMIN_TOKEN: secret })).toEqual(['ADMIN_TOKEN']);
    expect(missing({ TOOLGATE_SECRET: secret })).toEqual(['TOOLGATE_SECRET']);
    const isNone = secret === '';
    expect(missing({ TOOLGATE_SECRET_PREVIOUS: secret })).toEqual(isNone ? [] : ['TOOLGATE_SECRET_PREVIOUS']);
  });

  it('takes one secret in any spelling for the same bytes, but the admin token as it is written', () => {
    expect(configOf({ TOOLGATE_SECRET: base64 }).secret).toBe(hex);
    expect(configOf({ TOOLGATE_SECRET: hex.toUpperCase() }).secret).toBe(hex);
    expect(configOf({ TOOLGATE_SECRET_PREVIOUS: base64 }).previousSecret).toBe(hex);
    expect(configOf({ ADMIN_TOKEN: hex.toUpperCase() }).adminToken).toBe(hex.toUpperCase());
  });

  it.each([
    ['https://gate.example/', 'https://gate.example', false],
    ['https://Gate.Example:443', 'https://gate.example', false],
    ['https://gate.example:8443', 'https://gate.example:8443', false],
    ['http://localhost:8787', 'http://localhost:8787', true],
    ['http://127.0.0.1:8787', 'http://127.0.0.1:8787', true],
    ['http://127.255.0.9', 'http://127.255.0.9', true],
    ['http://[::1]:8787', 'http://[::1]:8787', true],
    ['https://localhost', 'https://localhost', true],
  ])('takes %s as the origin %s', (text, publicUrl, loopback) => {
    expect(configOf({ PUBLIC_URL: text })).toMatchObject({ publicUrl, loopback });
  });

  it.each([
    '',
    'gate.example',
    'http://gate.example',
    'http://127.0.0.1.example',
    'http://localhost.example',
    'http://0.0.0.0:8787',
    'http://10.0.0.1',
    'https://gate.example/path',
    'https://gate.example/?',
    'https://gate.example?x=1',
    'https://gate.example/#',
    'https://user@gate.example',
    'https://:password@gate.example',
    'ftp://gate.example',
    'ws://localhost',
    'javascript:alert(1)',
    'file:///',
  ])('refuses %j as PUBLIC_URL', (text) => {
    expect(missing({ PUBLIC_URL: text })).toEqual(['PUBLIC_URL']);
  });

  it.each(['', 'gate', 'Gate <gate@example.com>', 'gate@example.com\r\nBcc: x@example.com', 'a@b.c,d@e.f'])(
    'refuses %j as MAIL_FROM',
    (address) => {
      expect(missing({ MAIL_FROM: address })).toEqual(['MAIL_FROM']);
    },
  );
});
