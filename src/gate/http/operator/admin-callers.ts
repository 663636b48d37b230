/** Callers: making, changing, rekeying and revoking them (docs/specification.md#administration). A key is shown once, when it is made. */
import { Hono } from 'hono';
import { newApiKey, newCallerId } from '../../auth/api-key.ts';
import type { Policy } from '../../ports.ts';
import { changeCaller, createCaller, revokeCaller, rotateKeys, type Change } from '../../ledger/caller-changes.ts';
import { findCaller, listCallers, readCallerChange, type Caller } from '../../ledger/callers.ts';
import { policySchema } from '../../policy/policy.ts';
import { ledgerSql } from '../../ledger/d1.ts';
import { timestamp } from '../../time.ts';
import { readJsonBody } from '../shared/body.ts';
import { CallerPatchBody, NewCallerBody, policyMisfit, RotationBody } from './caller-bodies.ts';
import type { HttpContext, HttpEnv } from '../shared/context.ts';
import { endOpenSessions, tellOpenSessions } from './open-sessions.ts';
import { problem } from '../shared/problem.ts';

export const adminCallers = new Hono<HttpEnv>()
  .get('/', async (c) => {
    const callers = await listCallers(ledgerSql(c.env.DB));
    return c.json({ callers: callers.map(shownCaller) });
  })
  .post('/', async (c) => {
    const body = await readJsonBody(c, NewCallerBody);
    if (body instanceof Response) return body;
    const { name, ...policy } = body;
    const misfit = policyMisfit(policy, c.get('registry'));
    if (misfit !== null) return problem(c, 'invalid-body', { reason: 'policy', detail: misfit });

    const callerId = newCallerId();
    const { key, hash } = newApiKey(callerId);
    await createCaller(ledgerSql(c.env.DB), { name, policy, key_hash: hash }, changeOf(c, callerId));
    return c.json({ caller_id: callerId, api_key: key, policy }, 201);
  })
  .patch('/:id', async (c) => {
    const body = await readJsonBody(c, CallerPatchBody);
    if (body instanceof Response) return body;
    const sql = ledgerSql(c.env.DB);
    const callerId = c.req.param('id');
    // Ends: a turn is lost only to another change that was made.
    for (;;) {
      const caller = await findCaller(sql, callerId);
      if (caller === null || caller.revoked_at !== null) return unknownCaller(c);
      const { name, policy } = merged(caller, body);
      const misfit = policyMisfit(policy, c.get('registry'));
      if (misfit !== null) return problem(c, 'invalid-body', { reason: 'policy', detail: misfit });
      const next = { name, policy, version: caller.version };
      if (await changeCaller(sql, next, changeOf(c, callerId))) return answerOnceTold(c, callerId);
    }
  })
  .delete('/:id', async (c) => {
    const callerId = c.req.param('id');
    // Revoking again tells again: the way on after an answer that was lost.
    await revokeCaller(ledgerSql(c.env.DB), changeOf(c, callerId));
    return answerOnceTold(c, callerId);
  })
  .post('/:id/rotate', async (c) => {
    const body = await readJsonBody(c, RotationBody);
    if (body instanceof Response) return body;
    const callerId = c.req.param('id');
    const change = changeOf(c, callerId);
    const { key, hash } = newApiKey(callerId);
    const oldExpiresAt = change.at + body.grace_seconds * 1_000;
    // Without grace the old key is gone by the order of commits, not by the clock of an opening that is on its way.
    const old_expires_at = body.grace_seconds === 0 ? 0 : oldExpiresAt;
    const rotated = await rotateKeys(ledgerSql(c.env.DB), { key_hash: hash, old_expires_at }, change);
    if (!rotated) return unknownCaller(c);
    const answer = { caller_id: callerId, api_key: key, old_key_expires_at: timestamp(oldExpiresAt) };
    if (!body.end_sessions) return c.json(answer);
    const sessions = await endOpenSessions(c.env, callerId);
    return c.json({ ...answer, sessions }, sessions.missed > 0 ? 202 : 200);
  });

const changeOf = (c: HttpContext, callerId: string): Change => ({
  caller_id: callerId,
  at: Date.now(),
  request_id: c.get('requestId'),
});

const unknownCaller = (c: HttpContext): Response => problem(c, 'not-found', { reason: 'unknown_caller' });

function merged(
  caller: Caller,
  { name, ...patch }: { name?: string } & Partial<Policy>,
): Pick<Caller, 'name' | 'policy'> {
  return { name: name ?? caller.name, policy: policySchema.parse({ ...caller.policy, ...patch }) };
}

/** Answers with the caller as it is now, after its open sessions know; 202 where some will know only later. */
async function answerOnceTold(c: HttpContext, callerId: string): Promise<Response> {
  const sql = ledgerSql(c.env.DB);
  const change = await readCallerChange(sql, callerId);
  if (change === null) return unknownCaller(c);
  const sessions = await tellOpenSessions(c.env, callerId, change);
  const caller = await findCaller(sql, callerId);
  if (caller === null) return unknownCaller(c);
  return c.json({ ...shownCaller(caller), sessions }, sessions.queued > 0 ? 202 : 200);
}

function shownCaller({ created_at, revoked_at, ...caller }: Caller) {
  return {
    ...caller,
    created_at: timestamp(created_at),
    ...(revoked_at === null ? {} : { revoked_at: timestamp(revoked_at) }),
  };
}
