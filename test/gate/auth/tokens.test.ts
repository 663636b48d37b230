import { createHmac, createSecretKey, hkdfSync } from 'node:crypto';
import fc from 'fast-check';
import { base64url, decodeJwt, decodeProtectedHeader } from 'jose';
import { describe, expect, it, vi } from 'vitest';
import {
  sessionObjectName,
  signApprovalToken,
  signSessionToken,
  verifyApprovalToken,
  verifySessionToken,
} from '../../../src/gate/auth/tokens.ts';
import { hashOf } from '../../../src/gate/canonical.ts';
import type { Config } from '../../../src/gate/env.ts';

const config: Config = {
  adminToken: 'a'.repeat(64),
  secret: '0123456789abcdef'.repeat(4),
  previousSecret: null,
  publicUrl: 'https://gate.example',
  loopback: false,
  mailFrom: 'gate@example.com',
};
const now = Date.UTC(2026, 0, 1);
const expiresAt = now + 60_000;
const session = { caller: 'a'.repeat(16), session: 'chat:1', uid: 'u'.repeat(22), expiresAt };
const approval = { object: hashOf(['a', 'b']), approver: 0, bits: '0f'.repeat(16), expiresAt };

const { kid } = decodeProtectedHeader(await signSessionToken(config, session));
const sessionKey = hkdfSync('sha256', createSecretKey(config.secret, 'hex'), '', 'toolgate/session', 32);
const sessionPayload = {
  iss: config.publicUrl,
  aud: 'session',
  exp: expiresAt / 1000,
  caller: session.caller,
  session: session.session,
  uid: session.uid,
};

/** Signed with the true session key: what is refused here is refused for its content. */
function forged(payload: object, header: object = { alg: 'HS256', kid }, hash = 'sha256'): string {
  const input = `${base64url.encode(JSON.stringify(header))}.${base64url.encode(JSON.stringify(payload))}`;
  return `${input}.${createHmac(hash, new Uint8Array(sessionKey)).update(input).digest('base64url')}`;
}

describe('signSessionToken', () => {
  it('holds the named claims and nothing else', async () => {
    const token = await signSessionToken(config, session);
    expect(decodeJwt(token)).toEqual(sessionPayload);
    expect(decodeProtectedHeader(token)).toEqual({ alg: 'HS256', kid });
  });

  it('never lets a token live longer than asked', async () => {
    const token = await signSessionToken(config, { ...session, expiresAt: expiresAt + 999 });
    expect(decodeJwt(token).exp).toBe(expiresAt / 1000);
  });

  it('tells nothing of the secret in its key id', () => {
    expect(kid).toMatch(/^[\w-]{11}$/);
    expect(config.secret).not.toContain(kid);
  });
});

describe('verifySessionToken', () => {
  it('gives back what was signed', async () => {
    expect(await verifySessionToken(config, await signSessionToken(config, session), now)).toEqual(session);
    expect(await verifySessionToken(config, forged(sessionPayload), now)).toEqual(session);
  });

  it('refuses a token at its expiry, not before', async () => {
    const token = await signSessionToken(config, session);
    expect(await verifySessionToken(config, token, expiresAt - 1)).toEqual(session);
    expect(await verifySessionToken(config, token, expiresAt)).toBeNull();
  });

  it('refuses a change of any one character', async () => {
    const token = await signSessionToken(config, session);
    for (let at = 0; at < token.length; at += 1) {
      for (const change of [1, 2, 4, 8, 16, 32]) {
        const changed = String.fromCharCode(token.charCodeAt(at) ^ change);
        expect(await verifySessionToken(config, token.slice(0, at) + changed + token.slice(at + 1), now)).toBeNull();
      }
    }
  });

  it('refuses every other spelling of the last character', async () => {
    const token = await signSessionToken(config, session);
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    const accepted = [];
    for (const last of alphabet.split('')) {
      if ((await verifySessionToken(config, token.slice(0, -1) + last, now)) !== null) accepted.push(last);
    }
    expect(accepted).toEqual([token.at(-1)]);
  });

  it.each([
    ['no exp', { exp: undefined }],
    ['a fractional exp', { exp: expiresAt / 1000 + 0.5 }],
    ['a textual exp', { exp: '9999999999' }],
    ['no iss', { iss: undefined }],
    ['another iss', { iss: 'https://other.example' }],
    ['no aud', { aud: undefined }],
    ['both audiences', { aud: ['session', 'approval'] }],
    ['its audience in a list', { aud: ['session'] }],
    ['no uid', { uid: undefined }],
    ['an empty caller', { caller: '' }],
    ['a numeric session', { session: 1 }],
    ['one claim too many', { admin: true }],
    ['a start in the future', { nbf: now / 1000 + 30 }],
  ])('refuses %s', async (_, changes) => {
    expect(await verifySessionToken(config, forged({ ...sessionPayload, ...changes }), now)).toBeNull();
  });

  it.each([
    ['no kid', { alg: 'HS256' }],
    ['an unknown kid', { alg: 'HS256', kid: 'AAAAAAAAAAA' }],
    ['a numeric kid', { alg: 'HS256', kid: 1 }],
    ['no alg', { kid }],
    ['alg none', { alg: 'none', kid }],
    ['another HMAC', { alg: 'HS512', kid }],
    ['a public-key algorithm', { alg: 'RS256', kid }],
    ['an unknown critical header', { alg: 'HS256', kid, crit: ['x'], x: 1 }],
    ['an unencoded payload', { alg: 'HS256', kid, crit: ['b64'], b64: false }],
  ])('refuses a header with %s', async (_, header) => {
    expect(await verifySessionToken(config, forged(sessionPayload, header), now)).toBeNull();
  });

  it('refuses alg none without a signature, and a signature of another HMAC', async () => {
    const [head = '', payload = ''] = forged(sessionPayload, { alg: 'none', kid }).split('.');
    expect(await verifySessionToken(config, `${head}.${payload}.`, now)).toBeNull();
    expect(await verifySessionToken(config, forged(sessionPayload, { alg: 'HS512', kid }, 'sha512'), now)).toBeNull();
  });

  it('refuses a payload with a member named __proto__', async () => {
    const payload = Object.defineProperty({ ...sessionPayload }, '__proto__', { value: {}, enumerable: true });
    expect(JSON.stringify(payload)).toContain('__proto__');
    expect(await verifySessionToken(config, forged(payload), now)).toBeNull();
  });

  it('refuses the tokens of another deployment', async () => {
    const token = await signSessionToken(config, session);
    expect(await verifySessionToken({ ...config, publicUrl: 'https://other.example' }, token, now)).toBeNull();
    expect(await verifySessionToken({ ...config, secret: 'f'.repeat(64) }, token, now)).toBeNull();
  });

  it('accepts the previous secret for verifying, and never signs with it', async () => {
    const rotated = { ...config, secret: 'f'.repeat(64), previousSecret: config.secret };
    const old = await signSessionToken(config, session);
    const fresh = await signSessionToken(rotated, session);
    expect(await verifySessionToken(rotated, old, now)).toEqual(session);
    expect(await verifySessionToken(rotated, fresh, now)).toEqual(session);
    expect(await verifySessionToken(config, fresh, now)).toBeNull();
    expect(decodeProtectedHeader(fresh).kid).not.toBe(kid);
  });

  it('answers null, not an exception, to text that is not a token', async () => {
    const token = await signSessionToken(config, session);
    const part = fc.oneof(
      fc.constantFrom(...token.split('.'), '', 'e30', 'bnVsbA', 'W10'),
      fc.string(),
      fc.base64String(),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(part, { maxLength: 5 }), async (parts) => {
        const text = parts.join('.');
        fc.pre(text !== token);
        expect(await verifySessionToken(config, text, now)).toBeNull();
      }),
    );
  });
});

describe('verifyApprovalToken', () => {
  it('gives back what was signed, until it expires', async () => {
    const token = await signApprovalToken(config, approval);
    expect(await verifyApprovalToken(config, token, now)).toEqual(approval);
    expect(await verifyApprovalToken(config, token, expiresAt)).toBeNull();
    expect(Object.keys(decodeJwt(token)).toSorted()).toEqual(['approver', 'aud', 'bits', 'exp', 'iss', 'object']);
  });

  it('takes no token of the other kind, not even one that claims to be of this', async () => {
    expect(await verifyApprovalToken(config, await signSessionToken(config, session), now)).toBeNull();
    expect(await verifySessionToken(config, await signApprovalToken(config, approval), now)).toBeNull();
    const { iss, exp } = sessionPayload;
    const { expiresAt: _, ...claims } = approval;
    expect(await verifyApprovalToken(config, forged({ iss, exp, aud: 'approval', ...claims }), now)).toBeNull();
  });

  it.each([
    ['an object of another form', { object: 'x' }],
    ['a negative approver', { approver: -1 }],
    ['bits of another length', { bits: '0f' }],
  ])('refuses %s', async (_, changes) => {
    const token = await signApprovalToken(config, { ...approval, ...changes });
    expect(await verifyApprovalToken(config, token, now)).toBeNull();
  });
});

describe('sessionObjectName', () => {
  it('is a hash of both names, kept apart', () => {
    expect(sessionObjectName('a', 'b')).toBe(hashOf(['a', 'b']));
    expect(sessionObjectName('ab', 'c')).not.toBe(sessionObjectName('a', 'bc'));
  });
});

describe('a verified session token', () => {
  const verifications = () => vi.spyOn(crypto.subtle, 'verify');

  it('is not verified again within a minute, and is after it', async () => {
    const fresh = { ...config };
    const token = await signSessionToken(fresh, { ...session, expiresAt: now + 3_600_000 });
    const verified = verifications();
    for (const at of [now, now + 1, now + 59_999])
      expect(await verifySessionToken(fresh, token, at)).toMatchObject({ uid: session.uid });
    expect(verified).toHaveBeenCalledTimes(1);
    await verifySessionToken(fresh, token, now + 60_000);
    expect(verified).toHaveBeenCalledTimes(2);
    verified.mockRestore();
  });

  it('is refused from its expiry on, however lately it was verified', async () => {
    const fresh = { ...config };
    const token = await signSessionToken(fresh, { ...session, expiresAt: now + 10_000 });
    expect(await verifySessionToken(fresh, token, now + 9_999)).not.toBe(null);
    expect(await verifySessionToken(fresh, token, now + 10_000)).toBe(null);
  });

  it('is forgotten when a thousand others were verified since', async () => {
    const fresh = { ...config };
    const tokens = await Promise.all(
      Array.from({ length: 1_001 }, (_, place) => signSessionToken(fresh, { ...session, session: `chat-${place}` })),
    );
    for (const token of tokens) await verifySessionToken(fresh, token, now);
    const verified = verifications();
    await verifySessionToken(fresh, tokens[1] ?? '', now);
    expect(verified).not.toHaveBeenCalled();
    await verifySessionToken(fresh, tokens[0] ?? '', now);
    expect(verified).toHaveBeenCalledTimes(1);
    verified.mockRestore();
  });
});
