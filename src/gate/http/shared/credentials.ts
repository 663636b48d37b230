/**
 * Authenticates operator, caller and agent by `Authorization: Bearer …` only. The principal comes from the credential, never
 * from a body. Each function returns the principal or the refusal, and a route calls it first.
 */
import type { MiddlewareHandler } from 'hono';
import { isAdminToken, readApiKey, sameHash } from '../../auth/api-key.ts';
import { verifySessionToken, type SessionClaims } from '../../auth/tokens.ts';
import { findKeyHashes } from '../../ledger/callers.ts';
import { ledgerSql } from '../../ledger/d1.ts';
import { sessionStub, type HttpContext, type HttpEnv } from './context.ts';
import { problem } from './problem.ts';

/** RFC 6750's token68. Two headers arrive joined by a comma, which it does not match. */
const BEARER = /^Bearer +(?<token>[A-Za-z0-9._~+/-]+=*)$/i;

/** Lets the operator pass. */
export const operatorOnly: MiddlewareHandler<HttpEnv> = async (c, next) => {
  const token = bearerToken(c);
  if (token === null) return noCredential(c);
  if (!isAdminToken(token, c.get('config'))) return refuseCredential(c, 'not_the_operator');
  return next();
};

/** The caller whose API key this is; a malformed key costs no look-up. */
export async function authenticateCaller(c: HttpContext): Promise<{ caller_id: string; key_hash: string } | Response> {
  const token = bearerToken(c);
  if (token === null) return noCredential(c);
  const presented = readApiKey(token);
  if (presented === null) return refuseCredential(c, 'malformed_api_key');
  const { callerId, hash } = presented;
  const hashes = await findKeyHashes(ledgerSql(c.env.DB), callerId, Date.now());
  const isLive = hashes.some((live) => sameHash(live, hash));
  return isLive ? { caller_id: callerId, key_hash: hash } : refuseCredential(c, 'unknown_api_key');
}

/** What the session token claims. Only the session object knows whether that session still takes calls. */
export async function authenticateAgent(c: HttpContext): Promise<SessionClaims | Response> {
  const token = bearerToken(c);
  if (token === null) return noCredential(c);
  const claims = await verifySessionToken(c.get('config'), token, Date.now());
  return claims ?? refuseCredential(c, 'bad_session_token');
}

/** The names a session may use now; null where it takes no more calls. */
export const agentTools = (c: HttpContext, agent: SessionClaims): Promise<string[] | null> =>
  sessionStub(c.env, agent.caller, agent.session).tools(agent.uid);

/**
 * Only a live session learns what is wrong with its request, because the credential is judged first
 * (docs/specification.md#requests-and-problems). A well-formed call is not checked here: its session judges the token.
 */
export async function refuseAgent(c: HttpContext, agent: SessionClaims, refusal: Response): Promise<Response> {
  // Not a 503 where it cannot be asked: a host would repeat what can never work.
  const allowed = await agentTools(c, agent).catch(() => []);
  return allowed === null ? refuseCredential(c, 'session_not_live') : refusal;
}

/**
 * One wording for every failure, counted per client address: good credentials are never slowed down by somebody's guessing
 * from the same address. The count is rough; what makes guessing hopeless is 256 bits.
 */
export async function refuseCredential(c: HttpContext, reason: string): Promise<Response> {
  const address = c.req.header('cf-connecting-ip') ?? 'unknown';
  const { success } = await c.env.FAILED_CREDENTIALS.limit({ key: address });
  return problem(c, success ? 'unauthorized' : 'too-many-requests', { reason });
}

/** No guess was made, so nothing is counted. */
const noCredential = (c: HttpContext): Response => problem(c, 'unauthorized', { reason: 'no_bearer' });

function bearerToken(c: HttpContext): string | null {
  return BEARER.exec(c.req.header('authorization') ?? '')?.groups?.['token'] ?? null;
}
