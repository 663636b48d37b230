/** Effects in other systems as an operator lists and settles them, over HTTP (docs/specification.md#effects-in-other-systems). */
import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { wireKey } from '../../src/gate/backends/backend.ts';
import { later, moveOn, standStill } from '../support/effects.ts';
import {
  effectKeyIn,
  elsewhere,
  foundThere,
  lost,
  lostAfter,
  network,
  reachDouble,
  stripe,
  type Elsewhere,
} from '../support/elsewhere.ts';
import { rowsIn, runAlarm } from '../support/inside.ts';
import { asOperator, type Answer } from '../support/over-http.ts';
import { outcomeOf } from '../support/session.ts';

const QUIET_MS = 900_000;
const EVIDENCE = 'Looked up in the dashboard of Stripe.';

beforeEach(() => {
  standStill();
  reachDouble();
});
afterEach(moveOn);

/** An effect of which nobody knows what became: done at the other system, or not. */
async function unknown(isDone: boolean): Promise<Elsewhere & { key: string }> {
  const ready = await elsewhere();
  network.planned = [isDone ? lostAfter : lost, lost];
  await ready.begin();
  return { ...ready, key: await effectKeyIn(ready.agent) };
}

type Row = Record<string, unknown>;
const listed = async (query = ''): Promise<Row[]> => {
  const { status, body } = await asOperator('GET', `/admin/effects${query}`);
  expect(status).toBe(200);
  return body['rows'] as Row[];
};
const rowOf = async (key: string, query = ''): Promise<Row | undefined> =>
  (await listed(query)).find(({ effect_key }) => effect_key === key);
const settle = (key: string, body: unknown) => asOperator('POST', `/admin/effects/${key}/settle`, body);
const said = ({ status, body }: Answer): Row => ({ status, ...body });

describe('GET /admin/effects', () => {
  it('lists an unknown effect with its key, its sends and its state, until it is settled', async () => {
    const { agent, payment, key } = await unknown(true);
    const now = new Date().toISOString();
    expect(await rowOf(key)).toEqual({
      effect_key: key,
      wire_key: stripe.posted.at(-1)?.key,
      caller_id: agent.caller_id,
      session_id: agent.session_id,
      tool: 'refund_payment',
      backend: 'stripe',
      subject: payment,
      amount_cents: 2_590,
      currency: 'USD',
      opened_at: now,
      sends: 1,
      last_send_at: now,
      state: 'settling',
      may_void_at: new Date(Date.now() + QUIET_MS).toISOString(),
    });
    expect(await rowOf(key, '?state=settling&backend=stripe')).toBeDefined();
    expect(await rowOf(key, '?state=waiting')).toBeUndefined();
    expect(await rowOf(key, '?backend=other')).toBeUndefined();
    later(10_000);
    await runAlarm(agent.object);
    expect(await rowOf(key)).toBeUndefined();
  });

  it('says that an effect of another account waits for the operator', async () => {
    const { agent, key } = await unknown(true);
    await rowsIn(agent.object, "UPDATE record SET place = 'another'");
    expect(await rowOf(key)).toMatchObject({ state: 'waiting' });
  });
});

describe('POST /admin/effects/{key}/settle', () => {
  it('executes what the operator found, tells the agent, and leaves an event row and a row of the operator log', async () => {
    const { agent, key, payment, ask, ...ready } = await unknown(true);
    const { evidence: _evidence, ...found } = foundThere({ agent, payment, ask, ...ready });
    expect(said(await settle(key, { ...found, evidence: EVIDENCE }))).toEqual({
      status: 200,
      effect_key: key,
      state: 'executed',
    });
    const told = outcomeOf(
      await agent.call('refund_payment', { payment, amount: 2_590, currency: 'USD', reason: 'requested_by_customer' }),
    );
    expect(told).toMatchObject({ code: 'OK', replayed: true, data: { refund_id: 're_1double' } });
    const rows = await rowsIn(agent.object, "SELECT row FROM log WHERE kind = 'event'");
    expect(rows.map(({ row }) => JSON.parse(String(row)) as Row)).toMatchObject([
      { actor: 'operator', code: 'OK', attempt: 1 },
    ]);
    const { results } = await env.DB.prepare('SELECT action, target, detail FROM operator_log WHERE target = ?')
      .bind(key)
      .all<Row>();
    expect(results).toEqual([
      { action: 'effect.settle', target: key, detail: expect.stringContaining(EVIDENCE) as string },
    ]);
    expect(stripe.refundedOf(payment)).toBe(2_590);
  });

  it('answers ANSWER_UNREADABLE to the agent where the operator gives no answer', async () => {
    const { key, ask } = await unknown(true);
    await settle(key, { applied: true, external_id: 're_1', evidence: EVIDENCE });
    expect(await ask('later')).toMatchObject({ code: 'ANSWER_UNREADABLE' });
  });

  it('voids only once nothing can be on its way', async () => {
    const { key, ask, payment, agent } = await unknown(false);
    const early = said(await settle(key, { applied: false, evidence: EVIDENCE }));
    expect(early).toMatchObject({
      status: 409,
      detail: expect.stringContaining('may still be executed until') as string,
    });
    later(QUIET_MS);
    expect(said(await settle(key, { applied: false, evidence: EVIDENCE }))).toMatchObject({
      status: 200,
      state: 'failed',
    });
    expect(await rowsIn(agent.object, 'SELECT state, refusal FROM record')).toEqual([
      { state: 'failed', refusal: '{"code":"SETTLED_NOT_APPLIED"}' },
    ]);
    expect(await ask('later')).toMatchObject({ code: 'OK' });
    expect(stripe.refundedOf(payment)).toBe(2_590);
  });

  it.each([
    ['no evidence', { applied: false }, 'evidence'],
    ['little evidence', { applied: false, evidence: 'seen' }, 'evidence'],
    ['no id of what was applied', { applied: true, evidence: EVIDENCE }, 'external_id'],
    ['an answer of what was not applied', { applied: false, answer: {}, evidence: EVIDENCE }, 'external_id'],
    ['an unknown member', { applied: false, evidence: EVIDENCE, force: true }, 'force'],
    [
      'an answer that the tool does not promise',
      { applied: true, external_id: 're_1', answer: { refund_id: 7 }, evidence: EVIDENCE },
      'answer.refund_id',
    ],
  ])('refuses %s with 422, and names the field', async (_what, body, field) => {
    const { key } = await unknown(true);
    expect(said(await settle(key, body))).toMatchObject({
      status: 422,
      detail: expect.stringContaining(field) as string,
    });
    expect(await rowOf(key)).toMatchObject({ state: 'settling' });
  });

  it('knows no effect that is settled or never was', async () => {
    const { key, agent } = await unknown(true);
    later(10_000);
    await runAlarm(agent.object);
    const body = { applied: false, evidence: EVIDENCE };
    expect([(await settle(key, body)).status, (await settle('0'.repeat(64), body)).status]).toEqual([404, 404]);
  });
});

describe('POST /admin/effects/{key}/resend', () => {
  const resend = (key: string) => asOperator('POST', `/admin/effects/${key}/resend`);

  it('sends the same request with the same key, also for a revoked caller', async () => {
    const { key, agent, payment } = await unknown(false);
    const revoked = await asOperator('DELETE', `/admin/callers/${agent.caller_id}`);
    expect(said(revoked)).toMatchObject({ status: 200, open_effects: 1 });
    expect(said(await resend(key))).toEqual({ status: 200, effect_key: key, state: 'executed' });
    expect(stripe.posted.at(-1)?.key).toBe(wireKey(key, null));
    expect(stripe.refundedOf(payment)).toBe(2_590);
  });

  it('is 409 once the key may be forgotten', async () => {
    const { key, payment } = await unknown(false);
    later(24 * 60 * 60_000 - QUIET_MS);
    expect(said(await resend(key))).toMatchObject({
      status: 409,
      detail: expect.stringContaining('may have forgotten the key') as string,
    });
    expect(stripe.refundedOf(payment)).toBe(0);
  });
});
