/** Requests to a session's object, ready to begin, in each state the object can be in. */
import { env } from 'cloudflare:workers';
import { runInDurableObject } from 'cloudflare:test';
import type { Policy } from '../../src/gate/ports.ts';
import type { CallAnswer, OpenRequest } from '../../src/gate/session/rpc.ts';
import type { Session } from './session-class.ts';
import { sessionObjectName } from '../../src/gate/auth/tokens.ts';
import { watch, type FaultName } from './awaits.ts';
import { decisionOn, parks, wordOf } from './effects.ts';
import { changePolicy, rowsIn } from './inside.ts';
import { KEY_HASH, newAgent, newCaller, newOrder, refund, stubOf, type Agent } from './session.ts';

/** What somebody was told; `row` names the audit row that a call's outcome rests on. */
export type Told = { code: string; row?: string; message?: string };
export type Begun = {
  agent: Agent;
  order: string;
  /** The request itself, and the same again. */
  begin(): Promise<Told>;
  /** What an agent would ask for beside it and after it, under a call id of its own. */
  ask(call_id: string): Promise<Told>;
};

const LOST: Told = { code: 'never answered' };
export const toldBy = (answer: Promise<CallAnswer>): Promise<Told> =>
  answer.then(
    (given) => {
      if ('refused' in given) return { code: given.refused };
      const { code, call_id, step, message = '' } = given.outcome;
      return { code, message, row: `${call_id} ${step}` };
    },
    () => LOST,
  );
export const wordBy = <Answer>(answer: Promise<Answer>, word: (answer: Answer) => string = String): Promise<Told> =>
  answer.then(
    (given) => ({ code: word(given) }),
    () => LOST,
  );

const GENEROUS: Partial<Policy> = { max_duplicate_calls: 20, max_steps: 100 };
export const UNASKED: Partial<Policy> = { ...GENEROUS, confirm_above_cents: 50_000 };

const asking =
  (agent: Agent, tool: string, args: unknown) =>
  (call_id: string): Promise<Told> =>
    toldBy(agent.call(tool, args, call_id));

type Prepared = { agent: Agent; order: string; ask: Begun['ask'] };

export async function prepared(policy: Partial<Policy>, changes: Record<string, unknown> = {}): Promise<Prepared> {
  const [order, agent] = await Promise.all([newOrder(), newAgent({ ...GENEROUS, ...policy })]);
  return { agent, order, ask: asking(agent, 'refund_order', refund(order, changes)) };
}

/** What is asked for is a refund under the id `same`. */
export const callOf = (ready: Prepared): Begun => ({ ...ready, begin: () => ready.ask('same') });

const isSend = (label: string): boolean => label.startsWith('D1: INSERT attempts');

/** A claim whose first send went wrong. */
export async function claimed(fault: FaultName = 'fails', call_id = 'earlier'): Promise<Prepared> {
  const ready = await prepared(UNASKED);
  watch(ready.agent.object).plan = { strikes: isSend, fault };
  await ready.ask(call_id);
  return ready;
}

type Parked = Prepared & { id: string };

export async function parked(): Promise<Parked> {
  const ready = await prepared({});
  return { ...ready, id: await parks(ready.agent, refund(ready.order)) };
}

export async function deciding(
  changes: Parameters<typeof decisionOn>[2] = {},
  policy: Partial<Policy> | null = null,
): Promise<Begun> {
  const { id, ...ready } = await parked();
  const decision = await decisionOn(ready.agent, id, changes);
  if (policy !== null) await changePolicy(ready.agent, policy);
  return { ...ready, begin: () => wordBy(ready.agent.stub().decide(decision), wordOf) };
}

/** An approved action whose first send went wrong. */
export async function approved(fault: FaultName = 'fails'): Promise<Parked> {
  const ready = await parked();
  watch(ready.agent.object).plan = { strikes: isSend, fault };
  await ready.agent.stub().decide(await decisionOn(ready.agent, ready.id));
  return ready;
}

export const runsAlarm = ({ agent, order, ask }: Prepared): Begun => ({
  agent,
  order,
  ask,
  begin: () => wordBy(runInDurableObject(env.SESSION.getByName(agent.object), (session: Session) => session.alarm())),
});

/** As if the clock had moved for this session alone. */
export const backdate = async (
  { agent, ...rest }: Parked,
  column: 'decided_at' | 'expires_at',
  ms: number,
): Promise<Parked> => {
  await rowsIn(agent.object, `UPDATE record SET ${column} = ${column} - ?`, ms);
  return { agent, ...rest };
};

/** A request to the object about a pending action. */
export const about = (asked: (ready: Parked) => Promise<unknown>) => async (): Promise<Begun> => {
  const ready = await parked();
  return { ...ready, begin: () => wordBy(asked(ready), (answer) => JSON.stringify(answer) ?? 'done') };
};

export async function reading(tool: string, args: Record<string, unknown>): Promise<Begun> {
  const agent = await newAgent({ ...GENEROUS, allowed_tools: [tool] });
  const order = await newOrder();
  const ask = asking(agent, tool, tool === 'get_order' ? { order_id: order } : args);
  return { agent, order, ask, begin: () => ask('same') };
}

/** A session that nobody has opened yet. */
export async function opening(changes: Partial<OpenRequest> = {}): Promise<Begun> {
  const caller_id = await newCaller(GENEROUS);
  const session_id = `opened-${caller_id}`;
  const object = sessionObjectName(caller_id, session_id);
  const request = { ttl_seconds: 3600, caller_id, session_id, key_hash: KEY_HASH };
  const open = (asked: OpenRequest) => () =>
    wordBy(stubOf(object).open(asked), (answer) => ('refused' in answer ? answer.refused : answer.opened));
  const agent = {
    caller_id,
    session_id,
    object,
    uid: '',
    stub: () => stubOf(object),
    call: () => Promise.reject(new Error('no session')),
  };
  return {
    agent,
    order: await newOrder(),
    begin: open({ ...request, ...changes }),
    ask: open({ ...request, ttl_seconds: 7200 }),
  };
}

export const approvalMessage = ({ agent, id }: Parked) =>
  ({ type: 'approval', object: agent.object, approval_id: id, approver: 0 }) as const;
