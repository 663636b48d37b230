/** Opening, rejoining, narrowing and ending a session, and how its caller's changes reach it (docs/specification.md#changes-to-a-caller and docs/specification.md#sessions). */
import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { sessionObjectName } from '../../src/gate/auth/tokens.ts';
import type { OpenAnswer, OpenRequest } from '../../src/gate/session/rpc.ts';
import { readCallerChange } from '../../src/gate/ledger/callers.ts';
import { ledgerSql } from '../../src/gate/ledger/d1.ts';
import { changePolicy, dumpOf, revoke, tablesIn, tell, withoutAlarms } from '../support/inside.ts';
import {
  APPROVERS,
  KEY_HASH,
  newAgent,
  newCaller,
  newOrder,
  outcomeOf,
  stubOf,
  type Agent,
} from '../support/session.ts';

beforeEach(() => void withoutAlarms());
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

const sessionId = 'chat-1';
const objectOf = (caller_id: string) => sessionObjectName(caller_id, sessionId);
const open = (caller_id: string, changes: Partial<OpenRequest> = {}): Promise<OpenAnswer> =>
  stubOf(objectOf(caller_id)).open({
    caller_id,
    session_id: sessionId,
    key_hash: KEY_HASH,
    ttl_seconds: 3600,
    ...changes,
  });
const rejoin = ({ caller_id, session_id, stub }: Agent, changes: Partial<OpenRequest> = {}): Promise<OpenAnswer> =>
  stub().open({ caller_id, session_id, key_hash: KEY_HASH, ttl_seconds: 3600, ...changes });
const listed = async (caller_id: string) =>
  (await env.DB.prepare('SELECT uid, ended_at FROM sessions WHERE caller_id = ?').bind(caller_id).all()).results;
const changeOf = async (caller_id: string) => {
  const change = await readCallerChange(ledgerSql(env.DB), caller_id);
  if (change === null) throw new Error('there is no such caller');
  return change;
};

const policy = {
  tools: ['get_order', 'refund_order'],
  max_steps: 10,
  max_duplicate_calls: 3,
  max_refund_cents: 50_000,
  max_session_refund_cents: null,
  confirm_above_cents: 0,
  approvers: 2,
};

describe('opening a session', () => {
  it("shows the caller's policy, its approvers as a number, and enters the session in the ledger", async () => {
    const caller_id = await newCaller();
    const before = Math.floor(Date.now() / 1000) * 1000;
    const opened = await open(caller_id, { customer_id: 'CUS-1', ttl_seconds: 60 });
    expect(opened).toMatchObject({ opened: 'new', policy: { ...policy, customer_id: 'CUS-1' } });
    if (!('uid' in opened)) throw new Error('not opened');
    expect(opened.expires_at).toBeGreaterThanOrEqual(before + 60_000);
    expect(opened.expires_at).toBeLessThanOrEqual(Date.now() + 60_000);
    for (const address of APPROVERS) expect(JSON.stringify(opened)).not.toContain(address);
    expect(await listed(caller_id)).toMatchObject([{ uid: opened.uid, ended_at: null }]);
  });

  const refusals: [string, Partial<OpenRequest>, object][] = [
    ['more steps', { max_steps: 11 }, { refused: 'widened', field: 'max_steps' }],
    ['a larger refund', { max_refund_cents: 50_001 }, { refused: 'widened', field: 'max_refund_cents' }],
    ['another tool', { tools: ['get_order', 'calculator'] }, { refused: 'widened', field: 'tools' }],
    ['a tool that does not exist', { tools: ['constructor'] }, { refused: 'widened', field: 'tools' }],
  ];
  it.each(refusals)(
    'is refused with %s than the policy allows, and leaves nothing behind',
    async (_, changes, refused) => {
      const caller_id = await newCaller();
      expect(await open(caller_id, changes)).toEqual(refused);
      expect(await tablesIn(objectOf(caller_id))).toEqual([]);
      expect(await listed(caller_id)).toEqual([]);
      expect(await open(caller_id)).toMatchObject({ opened: 'new' });
    },
  );

  it('is refused with more for the session than the policy allows, where it sets a limit', async () => {
    const limited = await newCaller({ max_session_refund_cents: 100 });
    expect(await open(limited, { max_session_refund_cents: 101 })).toMatchObject({ field: 'max_session_refund_cents' });
    expect(await open(await newCaller(), { max_session_refund_cents: 101 })).toMatchObject({ opened: 'new' });
  });

  it('is refused without a customer where one is required, and without a live caller', async () => {
    const caller_id = await newCaller({ customer_scope: 'required' });
    expect(await open(caller_id)).toEqual({ refused: 'customer_required' });
    await revoke({ caller_id, object: objectOf(caller_id) });
    for (const dead of [caller_id, 'nobody'])
      expect(await open(dead, { customer_id: 'CUS-1' })).toEqual({ refused: 'revoked' });
    expect(await tablesIn(objectOf(caller_id))).toEqual([]);
  });

  it('twice at once is one session, opened and rejoined', async () => {
    const caller_id = await newCaller();
    const answers = await Promise.all([open(caller_id), open(caller_id, { max_steps: 5 })]);
    expect(answers).toMatchObject([
      { opened: 'new', policy: { max_steps: 10 } },
      { opened: 'rejoined', policy: { max_steps: 5 } },
    ]);
    expect(new Set(answers.map((answer) => 'uid' in answer && answer.uid)).size).toBe(1);
    expect(await listed(caller_id)).toHaveLength(1);
  });
});

describe('rejoining a session', () => {
  it('narrows what it names, keeps the rest, and gives no budget back', async () => {
    const agent = await newAgent({}, { max_steps: 4, max_refund_cents: 300 });
    await agent.call('nothing', {});
    expect(await rejoin(agent, { tools: ['get_order'] })).toMatchObject({
      opened: 'rejoined',
      uid: agent.uid,
      policy: { tools: ['get_order'], max_steps: 4, max_refund_cents: 300 },
    });
    expect(await agent.call('refund_order', {})).toMatchObject({
      outcome: { code: 'TOOL_NOT_ALLOWED', step: 2 },
      steps_left: 2,
    });
    for (const [field, value] of Object.entries({ tools: ['refund_order'], max_steps: 5, max_refund_cents: 301 }))
      expect(await rejoin(agent, { [field]: value })).toEqual({ refused: 'widened', field });
    expect(await rejoin(agent)).toMatchObject({
      policy: { tools: ['get_order'], max_steps: 4, max_refund_cents: 300 },
    });
  });

  it('changes neither its customer nor who asked for it', async () => {
    const agent = await newAgent({}, { customer_id: 'CUS-1', requested_by: 'Cy@shop.test' });
    expect(await rejoin(agent, { customer_id: 'CUS-1', requested_by: 'cy@SHOP.test' })).toMatchObject({
      opened: 'rejoined',
    });
    expect(await rejoin(agent, { customer_id: 'CUS-2' })).toEqual({ refused: 'conflict', field: 'customer_id' });
    expect(await rejoin(agent, { requested_by: 'di@shop.test' })).toEqual({
      refused: 'conflict',
      field: 'requested_by',
    });
    const anonymous = await newAgent();
    expect(await rejoin(anonymous, { customer_id: 'CUS-1' })).toEqual({ refused: 'conflict', field: 'customer_id' });
  });

  it('is refused after its end, which also ends its tokens and is told the same way twice', async () => {
    const agent = await newAgent();
    expect(await agent.stub().end('another uid')).toEqual({ refused: 'not_found' });
    const ended = await agent.stub().end(agent.uid);
    expect(ended).toEqual({ ended_at: expect.any(Number) as number });
    expect(await agent.stub().end(null)).toEqual(ended);
    expect(await rejoin(agent)).toEqual({ refused: 'ended' });
    expect(await agent.call('get_order', {})).toEqual({ refused: 'unauthorized' });
    expect(await agent.stub().tools(agent.uid)).toBeNull();
    expect(await agent.stub().approval(agent.uid, 'apr_1', 0)).toEqual({ refused: 'unauthorized' });
  });

  it('takes the policy of now, told or not', async () => {
    const agent = await newAgent();
    const unheard = { caller_id: agent.caller_id, object: sessionObjectName(agent.caller_id, 'another session') };
    await changePolicy(unheard, { max_steps: 3 });
    expect(await rejoin(agent)).toMatchObject({ policy: { max_steps: 3 } });
    await revoke(unheard);
    expect(await rejoin(agent)).toEqual({ refused: 'revoked' });
  });
});

describe("a caller's change", () => {
  it('holds for the next call, and widens nothing that the session narrowed', async () => {
    const agent = await newAgent({}, { max_steps: 8, tools: ['get_order'] });
    await changePolicy(agent, { max_steps: 5, max_duplicate_calls: 1, allowed_tools: ['get_order', 'calculator'] });
    expect(await agent.stub().tools(agent.uid)).toEqual(['get_order']);
    const order_id = await newOrder();
    expect(await agent.call('get_order', { order_id })).toMatchObject({ outcome: { code: 'OK' }, max_steps: 5 });
    expect(outcomeOf(await agent.call('get_order', { order_id })).code).toBe('LOOP_DETECTED');
    await changePolicy(agent, { max_steps: 1000 });
    expect(await agent.call('get_order', {})).toMatchObject({ max_steps: 8 });
  });

  it('that requires a customer shuts a session without one', async () => {
    const agent = await newAgent();
    const scoped = await newAgent({}, { caller_id: agent.caller_id, customer_id: 'CUS-1' });
    await changePolicy(agent, { customer_scope: 'required' });
    await tell(scoped);
    expect(outcomeOf(await agent.call('get_order', { order_id: await newOrder() })).code).toBe('TOOL_NOT_ALLOWED');
    expect(await agent.stub().tools(agent.uid)).toEqual([]);
    expect(await rejoin(agent)).toEqual({ refused: 'customer_required' });
    expect(outcomeOf(await scoped.call('get_order', { order_id: await newOrder() })).code).toBe('OK');
    expect(await rejoin(scoped)).toMatchObject({ opened: 'rejoined' });
  });

  it('is harmless when told twice or late: the higher version stays', async () => {
    const agent = await newAgent();
    const older = await changeOf(agent.caller_id);
    await changePolicy(agent, { max_steps: 5 });
    const before = await dumpOf(agent.object);
    await agent.stub().tell(older);
    await agent.stub().tell({ ...older, revoked: true });
    await tell(agent);
    expect(await dumpOf(agent.object)).toBe(before);
  });

  /** Runs `action` when the ledger has entered the session, and before the object hears of it. */
  function whileOpening(action: () => Promise<unknown>): void {
    const batch = env.DB.batch.bind(env.DB);
    vi.spyOn(env.DB, 'batch').mockImplementationOnce(async <Row>(statements: D1PreparedStatement[]) => {
      const results = await batch<Row>(statements);
      await action();
      return results;
    });
  }

  it('told while the session opens is kept', async () => {
    const caller_id = await newCaller();
    whileOpening(() => changePolicy({ caller_id, object: objectOf(caller_id) }, { max_steps: 2 }));
    expect(await open(caller_id)).toMatchObject({ opened: 'new', policy: { max_steps: 2 } });
  });

  it('told late while the session opens is not', async () => {
    const caller_id = await newCaller();
    const older = await changeOf(caller_id);
    await changePolicy({ caller_id, object: objectOf(caller_id) }, { max_steps: 2 });
    whileOpening(() => stubOf(objectOf(caller_id)).tell(older));
    expect(await open(caller_id)).toMatchObject({ opened: 'new', policy: { max_steps: 2 } });
  });

  it('that revokes the caller while the session opens leaves no session', async () => {
    const caller_id = await newCaller();
    whileOpening(() => revoke({ caller_id, object: objectOf(caller_id) }));
    expect(await open(caller_id)).toEqual({ refused: 'revoked' });
    expect(await tablesIn(objectOf(caller_id))).toEqual([]);
    expect(await listed(caller_id)).toEqual([]);
  });

  it('leaves no session if it ends the session while it opens', async () => {
    const caller_id = await newCaller();
    whileOpening(() => stubOf(objectOf(caller_id)).end(null));
    expect(await open(caller_id)).toEqual({ refused: 'ended' });
    expect(await tablesIn(objectOf(caller_id))).toEqual([]);
    expect(await listed(caller_id)).toEqual([]);
  });

  it('told while a session is rejoined is kept', async () => {
    const agent = await newAgent();
    whileOpening(() => changePolicy(agent, { max_steps: 2 }));
    expect(await rejoin(agent)).toMatchObject({ policy: { max_steps: 2 } });
  });
});
