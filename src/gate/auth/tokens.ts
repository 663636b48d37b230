/**
 * Signed tokens (RFC 7519) of agents and of approvers' links. A token only names its session or approval; the session
 * object decides what it allows. It holds no address, because links travel by mail. Verification answers null for
 * another algorithm (RFC 8725 section 3.1), issuer or audience, for absent or extra claims, and for a second spelling
 * of a good token.
 */
import { createHash, createSecretKey, hkdfSync } from 'node:crypto';
import { SignJWT, base64url, errors, jwtVerify } from 'jose';
import * as z from 'zod';
import { hashOf } from '../canonical.ts';
import type { Config } from '../env.ts';

type Audience = 'session' | 'approval';

/** Derived from one secret. With a key per audience, one kind of token cannot pass as the other. */
interface KeyRing {
  readonly kid: string;
  readonly keys: Readonly<Record<Audience, Uint8Array>>;
}

export interface SessionClaims {
  readonly caller: string;
  readonly session: string;
  /** Random, so that a later session of the same name differs. */
  readonly uid: string;
  /** In milliseconds; the token's `exp` is rounded down to seconds. */
  readonly expiresAt: number;
}

export interface ApprovalClaims {
  readonly object: string;
  readonly approver: number;
  /** 128 random bits in hex that the session object keeps; withdrawing them ends the link. */
  readonly bits: string;
  readonly expiresAt: number;
}

const ALGORITHM = 'HS256';
const KEY_BYTES = 32;
const KID_BYTES = 8;

/** The last of 43 base64url characters has two unused bits, which decoders ignore: they must be zero. */
const CANONICAL_TOKEN = /^[\w-]+\.[\w-]+\.[\w-]{42}[AEIMQUYcgkosw048]$/;

const SessionPayload = z
  .strictObject({
    iss: z.string(),
    aud: z.literal('session'),
    exp: z.int(),
    caller: z.string().min(1),
    session: z.string().min(1),
    uid: z.string().min(1),
  })
  .transform(({ caller, session, uid, exp }): SessionClaims => ({ caller, session, uid, expiresAt: exp * 1000 }));

const ApprovalPayload = z
  .strictObject({
    iss: z.string(),
    aud: z.literal('approval'),
    exp: z.int(),
    object: z.string().regex(/^[0-9a-f]{64}$/),
    approver: z.int().nonnegative(),
    bits: z.string().regex(/^[0-9a-f]{32}$/),
  })
  .transform(({ object, approver, bits, exp }): ApprovalClaims => ({ object, approver, bits, expiresAt: exp * 1000 }));

/** Names the object of a session. A hash of both parts, so that no session name collides with another caller's. */
export function sessionObjectName(caller: string, session: string): string {
  return hashOf([caller, session]);
}

export function signSessionToken(config: Config, { caller, session, uid, expiresAt }: SessionClaims): Promise<string> {
  return sign(config, 'session', { caller, session, uid }, expiresAt);
}

type Verified = Map<string, { claims: SessionClaims; until: number }>;

const REMEMBERED_MS = 60_000;
const MAX_REMEMBERED = 1_000;

/**
 * Verified session tokens by hash, so that memory holds no credential. A new secret means a new `Config` and an empty
 * cache.
 */
const remembered = new WeakMap<Config, Verified>();

/** Agents send their token with every call, so a verification is reused for a minute. */
export async function verifySessionToken(config: Config, token: string, now: number): Promise<SessionClaims | null> {
  const known: Verified = remembered.get(config) ?? new Map();
  remembered.set(config, known);
  const hash = createHash('sha256').update(token).digest('base64url');
  const kept = known.get(hash);
  if (kept !== undefined && now < kept.until) return kept.claims;
  known.delete(hash);
  const claims = await verify(config, 'session', SessionPayload, token, now);
  if (claims === null) return null;
  const [oldest] = known.keys();
  if (known.size >= MAX_REMEMBERED && oldest !== undefined) known.delete(oldest);
  known.set(hash, { claims, until: Math.min(now + REMEMBERED_MS, claims.expiresAt) });
  return claims;
}

export function signApprovalToken(
  config: Config,
  { object, approver, bits, expiresAt }: ApprovalClaims,
): Promise<string> {
  return sign(config, 'approval', { object, approver, bits }, expiresAt);
}

export function verifyApprovalToken(config: Config, token: string, now: number): Promise<ApprovalClaims | null> {
  return verify(config, 'approval', ApprovalPayload, token, now);
}

function sign(
  config: Config,
  audience: Audience,
  claims: Record<string, string | number>,
  expiresAt: number,
): Promise<string> {
  const { kid, keys } = keyRing(config.secret);
  return new SignJWT(claims)
    .setProtectedHeader({ alg: ALGORITHM, kid })
    .setIssuer(config.publicUrl)
    .setAudience(audience)
    .setExpirationTime(Math.floor(expiresAt / 1000))
    .sign(keys[audience]);
}

async function verify<Claims>(
  config: Config,
  audience: Audience,
  payload: z.ZodType<Claims>,
  token: string,
  now: number,
): Promise<Claims | null> {
  if (!CANONICAL_TOKEN.test(token)) return null;
  const secrets = config.previousSecret === null ? [config.secret] : [config.secret, config.previousSecret];
  try {
    const verified = await jwtVerify(
      token,
      ({ kid }) => {
        const ring = secrets.map(keyRing).find((candidate) => candidate.kid === kid);
        if (ring === undefined) throw new errors.JWKSNoMatchingKey();
        return ring.keys[audience];
      },
      {
        algorithms: [ALGORITHM],
        issuer: config.publicUrl,
        audience,
        requiredClaims: ['exp'],
        currentDate: new Date(now),
      },
    );
    return payload.safeParse(verified.payload).data ?? null;
  } catch (error) {
    if (error instanceof errors.JOSEError) return null;
    throw error;
  }
}

const keyRings = new Map<string, KeyRing>();

/** RFC 5869 without salt, because the secret is random. The key id is derived too and reveals nothing. */
function keyRing(secret: string): KeyRing {
  const known = keyRings.get(secret);
  if (known !== undefined) return known;
  const root = createSecretKey(secret, 'hex');
  const derive = (info: string, bytes: number) =>
    new Uint8Array(hkdfSync('sha256', root, '', `toolgate/${info}`, bytes));
  const ring: KeyRing = {
    kid: base64url.encode(derive('kid', KID_BYTES)),
    keys: { session: derive('session', KEY_BYTES), approval: derive('approval', KEY_BYTES) },
  };
  keyRings.set(secret, ring);
  return ring;
}
