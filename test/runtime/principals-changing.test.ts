/** What a change means to what is under way: revocation, a policy that changes during a call, and who is not known at all. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Policy } from '../../src/gate/ports.ts';
import { decide, fateOf, linkOf, parkedRefund, parkIn, reject } from '../support/approver.ts';
import {
  afterNextRead,
  auditIn,
  beforeNextBatch,
  changePolicy,
  revoke,
  revokeUnheard,
  rowsIn,
  tablesIn,
  withoutAlarms,
} from '../support/inside.ts';
import { APPROVERS, ledgerOf, newAgent, newOrder, outcomeOf, refund, stubOf, type Agent } from '../support/session.ts';

beforeEach(() => void withoutAlarms());
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

const untouched = { refunded_cents: 0, applied: 0, voids: 0 };
const unasked = { confirm_above_cents: 50_000 };

describe('revoking a caller', () => {
  it('fails what waits for a person, each with a row, and ends the tokens', async () => {
    const parked = await parkedRefund();
    const other = await parkIn(parked.agent);
    const { agent } = parked;
    await revoke(agent);
    for (const { id, order } of [parked, other]) {
      const view = await agent.stub().view(await linkOf({ agent, id, order }));
      expect(view).toMatchObject({ view: { status: 'failed', result: { refusal: { code: 'CALLER_REVOKED' } } } });
    }
    const rows = (await auditIn(agent.object)).slice(2);
    expect(rows.map(({ kind, code, actor }) => ({ kind, code, actor }))).toEqual(
      [1, 2].map(() => ({ kind: 'event', code: 'CALLER_REVOKED', actor: 'session' })),
    );
    expect(rows.map(({ approval_id }) => approval_id)).toEqual([parked.id, other.id]);

    expect(await agent.call('get_order', {})).toEqual({ refused: 'unauthorized' });
    expect(await agent.stub().tools(agent.uid)).toBeNull();
    expect(await agent.stub().approval(agent.uid, parked.id, 0)).toEqual({ refused: 'unauthorized' });
    expect(await fateOf(parked, await decide(parked))).toEqual({
      became: 'already_decided',
      status: 'failed',
      code: 'CALLER_REVOKED',
    });
    expect(await ledgerOf(parked.order)).toEqual(untouched);
  });

  it('is final in the ledger: a send that races with it is void, though the session has not heard', async () => {
    const agent = await newAgent(unasked);
    const order = await newOrder();
    beforeNextBatch(() => revokeUnheard(agent));
    expect(outcomeOf(await agent.call('refund_order', refund(order)))).toMatchObject({
      code: 'CALLER_REVOKED',
      next: 'stop_and_tell_user',
    });
    expect(await ledgerOf(order)).toEqual({ ...untouched, voids: 1 });
  });

  it('is final in the ledger for what a person approves, too', async () => {
    const parked = await parkedRefund();
    beforeNextBatch(() => revokeUnheard(parked.agent));
    expect(await fateOf(parked, await decide(parked))).toMatchObject({ status: 'failed', code: 'CALLER_REVOKED' });
    expect(await ledgerOf(parked.order)).toEqual({ ...untouched, voids: 1 });
  });
});

describe('a change during a call', () => {
  const changed = (changes: Partial<Policy>) => (agent: Agent) => changePolicy(agent, changes);
  const changes: [string, string, Partial<Policy>, (agent: Agent) => Promise<unknown>][] = [
    ['takes the tool away', 'TOOL_NOT_ALLOWED', unasked, changed({ allowed_tools: ['get_order'] })],
    ['lowers the limit of a refund', 'POLICY_LIMIT', unasked, changed({ max_refund_cents: 2589 })],
    ['lowers the limit of the session', 'POLICY_LIMIT', unasked, changed({ max_session_refund_cents: 2589 })],
    ['asks for a person', 'CONFIRMATION_REQUIRED', unasked, changed({ confirm_above_cents: 2589 })],
    ['leaves nobody to ask', 'POLICY_LIMIT', {}, changed({ approvers: [] })],
    ['revokes the caller', 'CALLER_REVOKED', unasked, revoke],
    ['ends the session', 'SESSION_ENDED', unasked, (agent) => agent.stub().end(agent.uid)],
  ];

  it.each(changes)('that %s is what counts', async (_, code, policy, change) => {
    const agent = await newAgent(policy);
    const order = await newOrder();
    afterNextRead(() => change(agent));
    expect(outcomeOf(await agent.call('refund_order', refund(order))).code).toBe(code);
    const states = await rowsIn(agent.object, 'SELECT state FROM record');
    expect(states).toEqual(code === 'CONFIRMATION_REQUIRED' ? [{ state: 'pending' }] : []);
    expect(await ledgerOf(order)).toEqual(untouched);
  });

  it('that raises a limit is what counts, too', async () => {
    const agent = await newAgent({ ...unasked, max_refund_cents: 2589 });
    const order = await newOrder();
    afterNextRead(() => changePolicy(agent, { max_refund_cents: 2590 }));
    expect(outcomeOf(await agent.call('refund_order', refund(order))).code).toBe('OK');
  });

  const elsewhere = ['CONFIRMATION_REQUIRED', 'SESSION_ENDED'];
  const onApproval = changes.filter(([what, code]) => !elsewhere.includes(code) && what !== 'leaves nobody to ask');
  it.each(onApproval)('that %s counts for what a person approves meanwhile', async (_, code, __, change) => {
    const parked = await parkedRefund();
    afterNextRead(() => change(parked.agent));
    expect(await fateOf(parked, await decide(parked))).toMatchObject({ status: 'failed', code });
    expect(await ledgerOf(parked.order)).toEqual(untouched);
  });

  it('that takes an approver away takes their approval away, too, and leaves it to the others', async () => {
    const parked = await parkedRefund();
    afterNextRead(() => changePolicy(parked.agent, { approvers: APPROVERS.slice(1) }));
    expect(await decide(parked)).toEqual({ refused: 'bad_link' });
    expect(await ledgerOf(parked.order)).toEqual(untouched);
    expect(await decide(parked, { approver: 1 })).toEqual({ decided: 'approved' });
    expect(await ledgerOf(parked.order)).toMatchObject({ applied: 1 });
  });
});

describe('an object without a session', () => {
  const proof = { approval_id: 'apr_1', approver: 0, bits: '0'.repeat(32) };
  const message = { type: 'approval', object: 'nobody', approval_id: 'apr_1', approver: 0 } as const;
  const decision = {
    ...proof,
    decision: 'approve',
    phrase: '1',
    note: null,
    shown: '',
    request_id: 'r',
  } as const;

  it('refuses everything, and keeps nothing', async () => {
    const nobody = stubOf('nobody');
    const call = { uid: 'u', tool: 'get_order', arguments: {}, call_id: 'c', request_id: 'r' };
    expect(await nobody.call(call)).toEqual({ refused: 'unauthorized' });
    expect(await nobody.tools('u')).toBeNull();
    expect(await nobody.approval('u', 'apr_1', 0)).toEqual({ refused: 'unauthorized' });
    expect(await nobody.view(proof)).toEqual({ refused: 'bad_link' });
    expect(await nobody.decide(decision)).toEqual({ refused: 'bad_link' });
    expect(await nobody.end(null)).toEqual({ refused: 'not_found' });
    expect(await nobody.resend('apr_1', 'r')).toBe('not_found');
    expect(await nobody.withdraw('apr_1', 'r')).toBe('not_found');
    expect(await nobody.mailTask(message)).toBeNull();
    expect(await nobody.heads()).toEqual([]);
    await nobody.delivered(message, 'sent');
    await nobody.tell({ version: 1, name: 'Shop', policy: {} as Policy, revoked: false, pauses: [] });
    await nobody.wake();
    expect(await tablesIn('nobody')).toEqual([]);
  });

  it('is what a foreign or earlier session is to an open one', async () => {
    const { agent, id } = await parkedRefund();
    const stranger = await newAgent();
    const theirs = { uid: stranger.uid, tool: 'get_order', arguments: {}, call_id: 'c', request_id: 'r' };
    expect(await agent.stub().call(theirs)).toEqual({ refused: 'unauthorized' });
    expect(await agent.stub().tools(stranger.uid)).toBeNull();
    expect(await agent.stub().approval(stranger.uid, id, 0)).toEqual({ refused: 'unauthorized' });
    expect(await stranger.stub().approval(stranger.uid, id, 0)).toEqual({ refused: 'not_found' });
    expect(await stranger.stub().view(await linkOf({ agent, id, order: '' }))).toEqual({ refused: 'bad_link' });
    expect(await stranger.stub().withdraw(id, 'r')).toBe('not_found');
    expect(await auditIn(stranger.object)).toEqual([]);
  });
});

describe('ending a session', () => {
  it('fails what waits for a person, then leaves a row of its own', async () => {
    const parked = await parkedRefund();
    await parked.agent.stub().end(null);
    const rows = (await auditIn(parked.agent.object)).slice(1);
    expect(rows).toMatchObject([
      { kind: 'event', code: 'SESSION_ENDED', ok: false, approval_id: parked.id },
      { kind: 'event', code: 'SESSION_ENDED', ok: true, approval_id: null },
    ]);
    expect(await fateOf(parked, await reject(parked))).toEqual({
      became: 'already_decided',
      status: 'failed',
      code: 'SESSION_ENDED',
    });
  });

  it('does not take back what a person approved before', async () => {
    const parked = await parkedRefund();
    beforeNextBatch(() => parked.agent.stub().end(null));
    expect(await fateOf(parked, await decide(parked))).toEqual({ became: 'approved', status: 'executed', code: 'OK' });
    expect(await ledgerOf(parked.order)).toMatchObject({ refunded_cents: 2590, applied: 1 });
  });

  it('comes before an approval that still reads the ledger', async () => {
    const parked = await parkedRefund();
    afterNextRead(() => parked.agent.stub().end(null));
    expect(await fateOf(parked, await decide(parked))).toEqual({
      became: 'already_decided',
      status: 'failed',
      code: 'SESSION_ENDED',
    });
    expect(await ledgerOf(parked.order)).toEqual(untouched);
  });
});
