/** Callers: making, changing, rekeying and revoking them (docs/specification.md#administration). A key is shown once, when it is made. */
import { Hono } from 'hono';
import * as z from 'zod';
import { newApiKey, newCallerId } from '../../auth/api-key.ts';
import { changeCaller, createCaller, revokeCaller, rotateKeys, type Change } from '../../ledger/caller-changes.ts';
import { findCaller, listCallers, readCallerChange, type Caller } from '../../ledger/callers.ts';
import { policySchema } from '../../policy/policy.ts';
import { ledgerSql } from '../../ledger/d1.ts';
import { countOpenSends } from '../../ledger/open-sends.ts';
import { timestamp } from '../../time.ts';
import { readJsonBody } from '../shared/body.ts';
import { CallerPatchBody, NewCallerBody, policy, policyMisfit, RotationBody } from './caller-bodies.ts';
import type { HttpContext, HttpEnv } from '../shared/context.ts';
import { endOpenSessions, tellOpenSessions } from './open-sessions.ts';
import { describeRoute, json, once, type Operation } from '../shared/operation.ts';
import { problem } from '../shared/problem.ts';

const caller = once(() =>
  z.strictObject({
    caller_id: z.string(),
    name: z.string(),
    policy,
    version: z.int().min(1).describe('Rises with every change.'),
    created_at: z.iso.datetime(),
    revoked_at: z.iso.datetime().exactOptional(),
  }),
);

const apiKey = once(() => z.string().describe('Shown this once.'));
const count = once(() => z.int().min(0));

const changedCaller = once(() =>
  caller()
    .extend({
      sessions: z
        .strictObject({ told: count(), queued: count() })
        .describe('Open sessions that know of it, and those that will hear of it from the queue.'),
      open_effects: count()
        .exactOptional()
        .describe('After a revocation: effects in other systems that may still be applied.'),
    })
    .meta({ id: 'ChangedCaller' }),
);

const rotatedKey = once(() =>
  z
    .strictObject({
      caller_id: z.string(),
      api_key: apiKey(),
      old_key_expires_at: z.iso.datetime(),
      sessions: z
        .strictObject({ ended: count(), missed: count() })
        .exactOptional()
        .describe('With end_sessions: how many were ended, and how many did not answer.'),
    })
    .meta({ id: 'RotatedKey' }),
);

const listOperation = describeRoute(() => ({
  id: 'listCallers',
  summary: 'All callers, revoked ones included',
  credential: 'operator',
  answers: {
    200: json('The callers, oldest first.', z.strictObject({ callers: z.array(caller()) }).meta({ id: 'CallerList' })),
  },
}));

const createOperation = describeRoute(() => ({
  id: 'createCaller',
  summary: 'Makes a caller; shows its API key this once',
  credential: 'operator',
  body: NewCallerBody.meta({ id: 'CallerToMake' }),
  answers: {
    201: json('Made.', z.strictObject({ caller_id: z.string(), api_key: apiKey(), policy }).meta({ id: 'NewCaller' })),
  },
}));

/** A change and a revocation tell open sessions before the answer. */
const toldOperation = (): Pick<Operation, 'credential' | 'answers' | 'problems'> => ({
  credential: 'operator',
  answers: {
    200: json('Done, and every open session knows.', changedCaller()),
    202: json('Done; some open sessions will hear of it from the queue, and are counted.', changedCaller()),
  },
  problems: ['not-found'],
});

const changeOperation = describeRoute(() => ({
  ...toldOperation(),
  id: 'changeCaller',
  summary: 'Changes settings of a caller; absent ones stay',
  body: CallerPatchBody.meta({ id: 'CallerChange' }),
}));

const revokeOperation = describeRoute(() => ({
  ...toldOperation(),
  id: 'revokeCaller',
  summary: 'Revokes a caller for good; no effect of it is applied after the answer',
}));

const rotateOperation = describeRoute(() => ({
  id: 'rotateKey',
  summary: 'Gives a caller a new API key; the old one ends after its grace',
  credential: 'operator',
  body: RotationBody.meta({ id: 'KeyRotation' }),
  answers: { 200: json('Rotated.', rotatedKey()), 202: json('Rotated; some sessions did not answer.', rotatedKey()) },
  problems: ['not-found'],
}));

export const adminCallers = new Hono<HttpEnv>()
  .get('/', listOperation, async (c) => {
    const callers = await listCallers(ledgerSql(c.env.DB));
    return c.json({ callers: callers.map(shownCaller) });
  })
  .post('/', createOperation, async (c) => {
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
  .patch('/:id', changeOperation, async (c) => {
    const body = await readJsonBody(c, CallerPatchBody);
    if (body instanceof Response) return body;
    const sql = ledgerSql(c.env.DB);
    const callerId = c.req.param('id');
    // Terminates: each retry means that another change succeeded.
    for (;;) {
      const caller = await findCaller(sql, callerId);
      if (caller === null || caller.revoked_at !== null) return unknownCaller(c);
      const { name = caller.name, ...patch } = body;
      const policy = policySchema.parse({ ...caller.policy, ...patch });
      const misfit = policyMisfit(policy, c.get('registry'));
      if (misfit !== null) return problem(c, 'invalid-body', { reason: 'policy', detail: misfit });
      const next = { name, policy, version: caller.version };
      if (await changeCaller(sql, next, changeOf(c, callerId))) return answerOnceTold(c, callerId);
    }
  })
  .delete('/:id', revokeOperation, async (c) => {
    const callerId = c.req.param('id');
    // Revoking again tells the sessions again, so a lost answer can be repeated.
    const sql = ledgerSql(c.env.DB);
    await revokeCaller(sql, changeOf(c, callerId));
    return answerOnceTold(c, callerId, async () => ({ open_effects: await countOpenSends(sql, callerId) }));
  })
  .post('/:id/rotate', rotateOperation, async (c) => {
    const body = await readJsonBody(c, RotationBody);
    if (body instanceof Response) return body;
    const callerId = c.req.param('id');
    const change = changeOf(c, callerId);
    const { key, hash } = newApiKey(callerId);
    const oldExpiresAt = change.at + body.grace_seconds * 1_000;
    // With no grace period the key expires at 0, so an opening in flight cannot pass with an earlier timestamp.
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

/** Answers with the caller as it is now, after telling its open sessions; 202 if the queue must tell some of them. */
async function answerOnceTold(
  c: HttpContext,
  callerId: string,
  more: () => Promise<{ open_effects?: number }> = async () => ({}),
): Promise<Response> {
  const sql = ledgerSql(c.env.DB);
  const change = await readCallerChange(sql, callerId);
  if (change === null) return unknownCaller(c);
  const sessions = await tellOpenSessions(c.env, callerId, new Map([[callerId, change]]));
  const caller = await findCaller(sql, callerId);
  if (caller === null) return unknownCaller(c);
  return c.json({ ...shownCaller(caller), sessions, ...(await more()) }, sessions.queued > 0 ? 202 : 200);
}

function shownCaller({ created_at, revoked_at, ...caller }: Caller) {
  return {
    ...caller,
    created_at: timestamp(created_at),
    ...(revoked_at === null ? {} : { revoked_at: timestamp(revoked_at) }),
  };
}
