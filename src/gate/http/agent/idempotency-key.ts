/** The header with which a host names its request, so that it may send it again when the answer is lost. */
import * as z from 'zod';
import type { SessionClaims } from '../../auth/tokens.ts';
import type { HttpContext } from '../shared/context.ts';
import { refuseAgent } from '../shared/credentials.ts';
import { problem } from '../shared/problem.ts';

export const IdempotencyKey = z
  .string()
  .regex(/^[\x21-\x7e]{1,120}$/, 'must be 1 to 120 printable ASCII characters without spaces');

/** The key that came; undefined where none did. `callId` is what the body names the call, which must not be another name. */
export async function idempotencyKey(
  c: HttpContext,
  agent: SessionClaims,
  callId?: string,
): Promise<string | undefined | Response> {
  const key = c.req.header('idempotency-key');
  if (key === undefined) return undefined;
  const { error } = IdempotencyKey.safeParse(key);
  const flaw =
    error?.issues[0]?.message ?? (callId === undefined || callId === key ? null : 'must be the same as call_id');
  if (flaw === null) return key;
  const detail = `header Idempotency-Key ${flaw}`;
  return refuseAgent(c, agent, problem(c, 'invalid-body', { reason: 'idempotency_key', detail }));
}
