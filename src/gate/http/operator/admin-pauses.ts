/** Pausing everything, one caller or one tool: no effect is applied after the answer, and reads go on. */
import { Hono } from 'hono';
import * as z from 'zod';
import { findCaller, readCallerChanges } from '../../ledger/callers.ts';
import { ledgerSql } from '../../ledger/d1.ts';
import { callerIn, liftPause, listPauses, setPause, type Pause } from '../../ledger/pauses.ts';
import { timestamp } from '../../time.ts';
import { readJsonBody } from '../shared/body.ts';
import type { HttpContext, HttpEnv } from '../shared/context.ts';
import { describeRoute, json, once } from '../shared/operation.ts';
import { problem } from '../shared/problem.ts';
import { tellOpenSessions } from './open-sessions.ts';
import { visibleText } from './visible-text.ts';

const PauseBody = z.strictObject({
  scope: z
    .string()
    .regex(/^(?:all|caller:[a-z0-9]{1,64}|tool:[a-z][a-z0-9_]{0,39})$/, 'must be all, caller:<id> or tool:<name>')
    .describe('What is paused: `all`, `caller:<id>` or `tool:<name>`.'),
  reason: visibleText(1, 200).describe('Why: 1 to 200 characters, for the operators who read it later.'),
});

const pause = once(() =>
  z
    .strictObject({
      id: z.string(),
      scope: z.string(),
      reason: z.string(),
      at: z.iso.datetime(),
      actor: z.string().describe('Who paused it.'),
    })
    .meta({ id: 'Pause' }),
);

const listOperation = describeRoute(() => ({
  id: 'listPauses',
  summary: 'What is paused now, oldest first',
  credential: 'operator',
  answers: { 200: json('The pauses.', z.strictObject({ pauses: z.array(pause()) }).meta({ id: 'PauseList' })) },
}));
const setOperation = describeRoute(() => ({
  id: 'setPause',
  summary: 'Pauses effects; none is applied after the answer',
  credential: 'operator',
  body: PauseBody.meta({ id: 'PauseToSet' }),
  answers: { 201: json('Paused.', pause()) },
}));
const liftOperation = describeRoute(() => ({
  id: 'liftPause',
  summary: 'Lifts a pause; approved actions that waited are carried out within their hour',
  credential: 'operator',
  answers: { 200: json('Lifted.', pause()) },
  problems: ['not-found'],
}));

export const adminPauses = new Hono<HttpEnv>()
  .get('/', listOperation, async (c) => {
    const pauses = await listPauses(ledgerSql(c.env.DB));
    return c.json({ pauses: pauses.map(shownPause) });
  })
  .post('/', setOperation, async (c) => {
    const body = await readJsonBody(c, PauseBody);
    if (body instanceof Response) return body;
    const misfit = await scopeMisfit(c, body.scope);
    if (misfit !== null) return problem(c, 'invalid-body', { reason: 'scope', detail: `scope ${misfit}` });
    const made: Pause = { ...body, id: `pause_${crypto.randomUUID()}`, at: Date.now(), actor: 'token' };
    await setPause(ledgerSql(c.env.DB), made, c.get('requestId'));
    await tellCallers(c, made.scope);
    return c.json(shownPause(made), 201);
  })
  .delete('/:id', liftOperation, async (c) => {
    const made = { at: Date.now(), request_id: c.get('requestId') };
    const lifted = await liftPause(ledgerSql(c.env.DB), c.req.param('id'), made);
    if (lifted === null) return problem(c, 'not-found', { reason: 'unknown_pause' });
    await tellCallers(c, lifted.scope);
    return c.json(shownPause(lifted));
  });

/** A misspelled scope would pause nothing, and nobody would notice. */
async function scopeMisfit(c: HttpContext, scope: string): Promise<string | null> {
  const [kind, name = ''] = scope.split(':');
  if (kind === 'tool') return c.get('registry').get(name) === undefined ? 'names a tool that does not exist' : null;
  if (kind !== 'caller') return null;
  return (await findCaller(ledgerSql(c.env.DB), name)) === null ? 'names a caller that does not exist' : null;
}

/** Tells the open sessions of every caller concerned. The ledger holds the pause for those that hear of it from the queue. */
async function tellCallers(c: HttpContext, scope: string): Promise<void> {
  const changes = await readCallerChanges(ledgerSql(c.env.DB));
  await tellOpenSessions(c.env, callerIn(scope), changes);
}

const shownPause = ({ at, ...pause }: Pause) => ({ ...pause, at: timestamp(at) });
