/** docs/specification.md#ids-and-lost-answers: a host that lost an answer sends its request again under the same key. */
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/gate/json.ts';
import type { Outcome } from '../../../src/gate/outcome.ts';
import { refundOf, unattended } from '../../support/unattended.ts';

const use = (name: string, input: JsonObject) => ({ type: 'tool_use', id: 'toolu_1', name, input });
const refund = (amount_cents: number) => use('refund_order', refundOf(amount_cents));
const read = use('get_order', { order_id: 'ORD-1001' });
const keyed = (key: string) => ({ 'idempotency-key': key });

const asking = () => unattended({ identical_effects: 'ask' });
const told = (outcomes: Outcome[]) =>
  outcomes.map(({ call_id, code, step, replayed }) => ({ call_id, code, step, replayed }));

const BAD_KEYS = [
  ['of nothing', ''],
  ['with a space', 'a b'],
  ['beyond ASCII', 'é'],
  ['of 121 characters', 'x'.repeat(121)],
] as const;

describe('Idempotency-Key on /v1/calls/{provider}', () => {
  it('makes the second sending a report instead of a second payment', async () => {
    const { answer, moved, rows } = await asking();
    const body = { content: [refund(1000), refund(500)] };
    const first = await answer('anthropic', body, keyed('turn-1'));
    expect(told(first.outcomes)).toStrictEqual([
      { call_id: 'turn-1/0', code: 'OK', step: 1, replayed: false },
      { call_id: 'turn-1/1', code: 'OK', step: 2, replayed: false },
    ]);
    const second = await answer('anthropic', body, keyed('turn-1'));
    expect(told(second.outcomes)).toStrictEqual([
      { call_id: 'turn-1/0', code: 'OK', step: 1, replayed: true },
      { call_id: 'turn-1/1', code: 'OK', step: 2, replayed: true },
    ]);
    expect(moved()).toStrictEqual([500, 1000]);
    expect(rows().map(({ call_id }) => call_id)).toStrictEqual(['turn-1/0', 'turn-1/1']);
  });

  it('opens an approval for the second payment where there is no key', async () => {
    const { answer } = await asking();
    await answer('anthropic', { content: [refund(1000)] });
    expect((await answer('anthropic', { content: [refund(1000)] })).outcomes).toMatchObject([
      { code: 'CONFIRMATION_REQUIRED', step: 2 },
    ]);
  });

  it('joins the first sending while that runs', async () => {
    const { answer, moved } = await asking();
    const send = () => answer('anthropic', { content: [refund(1000)] }, keyed('turn-1'));
    const answers = await Promise.all([send(), send()]);
    const both = answers.flatMap(({ outcomes }) => told(outcomes));
    expect(both.toSorted((a, b) => Number(a.replayed) - Number(b.replayed))).toStrictEqual([
      { call_id: 'turn-1/0', code: 'OK', step: 1, replayed: false },
      { call_id: 'turn-1/0', code: 'OK', step: 1, replayed: true },
    ]);
    expect(moved()).toStrictEqual([1000]);
  });

  it('reports an approval that waits under its first step', async () => {
    const { answer, rows } = await asking();
    const send = () => answer('anthropic', { content: [refund(6000)] }, keyed('turn-1'));
    const [first, second] = [(await send()).outcomes[0], (await send()).outcomes[0]];
    expect(first).toMatchObject({ call_id: 'turn-1/0', code: 'CONFIRMATION_REQUIRED', step: 1 });
    expect(second).toMatchObject({ ...first, replayed: true });
    expect(rows()).toHaveLength(1);
  });

  it('makes a repeated read a new call', async () => {
    const { answer } = await unattended();
    await answer('anthropic', { content: [read] }, keyed('turn-1'));
    const { outcomes } = await answer('anthropic', { content: [read] }, keyed('turn-1'));
    expect(told(outcomes)).toStrictEqual([{ call_id: 'turn-1/0', code: 'OK', step: 2, replayed: false }]);
  });

  it('refuses another call under it', async () => {
    const { answer, moved } = await unattended();
    await answer('anthropic', { content: [refund(1000)] }, keyed('turn-1'));
    const { outcomes } = await answer('anthropic', { content: [refund(500), refund(400)] }, keyed('turn-1'));
    expect(outcomes).toMatchObject([{ code: 'CALL_ID_REUSED' }, { code: 'OK', call_id: 'turn-1/1' }]);
    expect(moved()).toStrictEqual([400, 1000]);
  });

  it('names other calls under another key', async () => {
    const { answer } = await asking();
    await answer('anthropic', { content: [refund(1000)] }, keyed('turn-1'));
    expect((await answer('anthropic', { content: [refund(1000)] }, keyed('turn-2'))).outcomes).toMatchObject([
      { code: 'CONFIRMATION_REQUIRED', call_id: 'turn-2/0' },
    ]);
  });

  it("is another id than a host's call_id of the same text, whichever comes first", async () => {
    const { send, answer, moved } = await unattended();
    const call = (amount: number, call_id: string) =>
      send('/v1/calls', { tool: 'refund_order', arguments: refundOf(amount), call_id });
    expect(await (await call(1000, 'a/0')).json()).toMatchObject({ code: 'OK', call_id: 'a/0' });
    expect((await answer('anthropic', { content: [refund(500)] }, keyed('a'))).outcomes).toMatchObject([
      { code: 'OK', call_id: 'a/0', step: 2 },
    ]);
    await answer('anthropic', { content: [refund(400)] }, keyed('b'));
    expect(await (await call(300, 'b/0')).json()).toMatchObject({ code: 'OK', call_id: 'b/0', step: 4 });
    expect(moved()).toStrictEqual([300, 400, 500, 1000]);
  });

  it('tells the id of the call that asked where the approval is looked up', async () => {
    const { answer, session, uid } = await unattended();
    const { outcomes } = await answer('anthropic', { content: [refund(6000)] }, keyed('turn-1'));
    const asked = await session.approval(uid, outcomes[0]?.approval?.id ?? '', 0);
    expect(asked).toMatchObject({ outcome: { call_id: 'turn-1/0' } });
    const question = use('get_approval', { approval_id: outcomes[0]?.approval?.id ?? '' });
    expect((await answer('anthropic', { content: [question] }, keyed('turn-2'))).outcomes).toMatchObject([
      { call_id: 'turn-2/0', tool: 'get_approval', code: 'CONFIRMATION_REQUIRED' },
    ]);
  });

  it.each(BAD_KEYS)('is refused as a key %s, and nothing runs', async (_, key) => {
    const { send, rows } = await unattended();
    const response = await send('/v1/calls/anthropic', { content: [refund(1000)] }, keyed(key));
    expect(response.status).toBe(422);
    expect((await response.json<{ detail: string }>()).detail).toContain('header Idempotency-Key must be');
    expect(rows()).toStrictEqual([]);
  });

  it.each(['!', '~', '"quoted"', 'x'.repeat(120)])('is taken as %s', async (key) => {
    const { answer } = await unattended();
    expect((await answer('anthropic', { content: [refund(1000)] }, keyed(key))).outcomes).toMatchObject([
      { code: 'OK', call_id: `${key}/0` },
    ]);
  });
});

describe('Idempotency-Key on /v1/calls', () => {
  const call = { tool: 'refund_order', arguments: refundOf(1000) };

  it('is the call_id', async () => {
    const { send, moved } = await asking();
    expect(await (await send('/v1/calls', call, keyed('c1'))).json()).toMatchObject({ code: 'OK', call_id: 'c1' });
    const again = { code: 'OK', call_id: 'c1', step: 1, replayed: true };
    expect(await (await send('/v1/calls', call, keyed('c1'))).json()).toMatchObject(again);
    expect(await (await send('/v1/calls', { ...call, call_id: 'c1' })).json()).toMatchObject(again);
    expect(await (await send('/v1/calls', { ...call, call_id: 'c1' }, keyed('c1'))).json()).toMatchObject(again);
    expect(moved()).toStrictEqual([1000]);
  });

  it('is refused beside another call_id, and nothing runs', async () => {
    const { send, rows } = await unattended();
    const response = await send('/v1/calls', { ...call, call_id: 'c2' }, keyed('c1'));
    expect(response.status).toBe(422);
    expect(await response.json()).toMatchObject({ detail: 'header Idempotency-Key must be the same as call_id' });
    expect(rows()).toStrictEqual([]);
  });

  it.each(BAD_KEYS)('is refused as a key %s', async (_, key) => {
    const { send, rows } = await unattended();
    expect((await send('/v1/calls', call, keyed(key))).status).toBe(422);
    expect(rows()).toStrictEqual([]);
  });
});
