/** Effects in other systems that may be under way, and the orders of an operator about them (docs/specification.md#effects-in-other-systems). */
import { Hono } from 'hono';
import * as z from 'zod';
import { ledgerSql } from '../../ledger/d1.ts';
import { listOpenSends, logOrder, type OpenSend } from '../../ledger/open-sends.ts';
import type { JsonObject } from '../../json.ts';
import { OPEN_STATES } from '../../ports.ts';
import type { OpenEffect, OrderAnswer, SettleOrder } from '../../session/rpc.ts';
import { inTime, timestamp } from '../../time.ts';
import type { Registry } from '../../tool/registry.ts';
import { readJsonBody } from '../shared/body.ts';
import { sessionStub, type HttpContext, type HttpEnv } from '../shared/context.ts';
import { describeRoute, json, once, type Operation } from '../shared/operation.ts';
import { problem } from '../shared/problem.ts';
import { checkedQuery, comparedText, cursor, orNull, pageLimit, pageOf, readPage } from './admin-lists.ts';
import { visibleText } from './visible-text.ts';

/** An object that does not answer by then has its effects shown as D1 knows them. */
const REACH_MS = 2_000;

const EffectsQuery = z.strictObject({
  state: orNull(z.enum(OPEN_STATES)),
  backend: comparedText,
  cursor,
  limit: pageLimit,
});

const SettleBody = z
  .strictObject({
    applied: z.boolean().describe('Whether the other system did it.'),
    external_id: visibleText(1, 128)
      .optional()
      .describe('With `applied: true`: what the other system calls the effect.'),
    answer: z
      .record(z.string(), z.unknown())
      .optional()
      .describe("With `applied: true`, optional: what the agent is told, in the shape of the tool's output."),
    evidence: visibleText(10, 500).describe('How the operator knows: 10 to 500 characters.'),
  })
  .refine(
    ({ applied, external_id, answer }) =>
      applied ? external_id !== undefined : external_id === undefined && answer === undefined,
    {
      path: ['external_id'],
      error: 'is required with applied: true, and goes with answer only there',
    },
  );

/** The body as the session takes it. */
const orderOf = ({ external_id = '', answer, evidence, applied }: z.output<typeof SettleBody>): SettleOrder =>
  // The body's reader made it of JSON.
  applied ? { applied, external_id, answer: answer as JsonObject | undefined, evidence } : { applied, evidence };

const ordered = once(() =>
  z
    .strictObject({ effect_key: z.string(), state: z.enum(['executed', 'failed', ...OPEN_STATES]) })
    .meta({ id: 'OrderedEffect' }),
);

const listOperation = describeRoute(() => {
  const row = z.strictObject({
    effect_key: z.string(),
    wire_key: z.string().nullable().describe('The key that the other system was sent; null where the tool is gone.'),
    caller_id: z.string(),
    session_id: z.string(),
    tool: z.string(),
    backend: z.string(),
    subject: z.string(),
    amount_cents: z.int().nullable(),
    currency: z.string().nullable(),
    opened_at: z.iso.datetime(),
    sends: z.int().min(0),
    last_send_at: z.iso.datetime().nullable(),
    state: z.enum(OPEN_STATES).describe('`settling` settles by itself; `waiting` must be settled by an operator.'),
    may_void_at: z.iso.datetime().nullable().describe('From then on `applied: false` is taken.'),
  });
  return {
    id: 'listEffects',
    summary: 'Effects in other systems that may be under way',
    credential: 'operator',
    query: EffectsQuery,
    answers: { 200: json('A page of effects.', pageOf('EffectList', 'rows', row.meta({ id: 'OpenEffect' }))) },
    problems: ['invalid-body'],
  };
});

const order = (): Pick<Operation, 'credential' | 'answers' | 'problems'> => ({
  credential: 'operator',
  answers: {
    200: json('Done.', ordered()),
    202: json('Ordered; the effect is not settled yet.', ordered()),
  },
  problems: ['not-found', 'session-conflict'],
});

const settleOperation = describeRoute(() => ({
  ...order(),
  id: 'settleEffect',
  summary: 'Settles an unknown effect as the operator found it in the other system',
  body: SettleBody,
}));
const resendOperation = describeRoute(() => ({
  ...order(),
  id: 'resendEffect',
  summary: 'Sends the same request once more, with the same key',
}));

export const adminEffects = new Hono<HttpEnv>()
  .get('/', listOperation, checkedQuery(EffectsQuery), async (c) => {
    const { state, backend, cursor, limit } = c.req.valid('query');
    const page = await readPage(c, listOpenSends(ledgerSql(c.env.DB), backend, cursor, limit));
    if (page instanceof Response) return page;
    const told = await toldBy(c, page.rows);
    const rows = page.rows.map((row) => shownEffect(row, told.get(row.effect_key), c.get('registry')));
    return c.json({
      rows: rows.filter((row) => state === null || row.state === state),
      next_cursor: page.next_cursor,
    });
  })
  .post('/:key/settle', settleOperation, async (c) => {
    const body = await readJsonBody(c, SettleBody);
    if (body instanceof Response) return body;
    return carryOut(c, c.req.param('key'), 'effect.settle', { ...body } as JsonObject, (session, key) =>
      session.settleEffect(key, orderOf(body), c.get('requestId')),
    );
  })
  .post('/:key/resend', resendOperation, (c) =>
    carryOut(c, c.req.param('key'), 'effect.resend', {}, (session, key) =>
      session.resendEffect(key, c.get('requestId')),
    ),
  );

type Session = ReturnType<typeof sessionStub>;

/** Logs the order, then has the session's object carry it out. */
async function carryOut(
  c: HttpContext,
  key: string,
  action: string,
  detail: JsonObject,
  ask: (session: Session, key: string) => Promise<OrderAnswer>,
): Promise<Response> {
  const order = { action, effect_key: key, detail, at: Date.now(), request_id: c.get('requestId') };
  const open = await logOrder(ledgerSql(c.env.DB), order);
  if (open === null) return problem(c, 'not-found', { reason: 'unknown_effect' });
  const { caller_id, session_id } = open;
  const answer = await ask(sessionStub(c.env, caller_id, session_id), key);
  if ('state' in answer) {
    const isDone = answer.state === 'executed' || answer.state === 'failed';
    return c.json({ effect_key: key, state: answer.state }, isDone ? 200 : 202);
  }
  if (answer.refused === 'not_found') return problem(c, 'not-found', { reason: 'forgotten_effect' });
  if (answer.refused === 'misfit')
    return problem(c, 'invalid-body', {
      reason: 'answer',
      detail: `answer.${answer.field} does not fit what the tool promises`,
    });
  return problem(c, 'session-conflict', { reason: answer.refused, detail: refusalOf(answer) });
}

function refusalOf(answer: Extract<OrderAnswer, { refused: string }>): string {
  if (answer.refused === 'too_early')
    return `the last request may still be executed until ${timestamp(answer.may_void_at)}; look the effect up after that`;
  if (answer.refused !== 'not_resendable') return 'the effect is settled already';
  switch (answer.why) {
    case 'no_key':
      return 'the other system has no idempotency key, so a second request could be a second effect';
    case 'too_late':
      return 'the other system may have forgotten the key, so a second request could be a second effect';
    case 'other_account':
      return 'the variables of the backend name another account than the effect was sent to';
    case 'tool_gone':
      return 'this deployment no longer has the tool';
  }
}

/** What the objects say of the effects of their sessions. */
async function toldBy(c: HttpContext, rows: OpenSend[]): Promise<Map<string, OpenEffect>> {
  const places = new Map(rows.map((row) => [`${row.caller_id} ${row.session_id}`, row]));
  const told = await Promise.allSettled(
    [...places.values()].map(({ caller_id, session_id }) =>
      inTime(sessionStub(c.env, caller_id, session_id).effects(), REACH_MS),
    ),
  );
  const effects = told.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  return new Map(effects.map((effect) => [effect.effect_key, effect]));
}

/** Where the object is silent, the effect counts as one that settles by itself: an operator must not act on a guess. */
function shownEffect({ uid: _uid, ...row }: OpenSend, told: OpenEffect | undefined, registry: Registry) {
  const { sends = row.sends, state = 'settling', last_send_at = row.last_send_at, may_void_at = null } = told ?? {};
  return {
    ...row,
    wire_key: registry.get(row.tool)?.external?.wireKey(row.effect_key) ?? null,
    opened_at: timestamp(row.opened_at),
    ...{ sends, state },
    last_send_at: last_send_at === null ? null : timestamp(last_send_at),
    may_void_at: may_void_at === null ? null : timestamp(may_void_at),
  };
}
