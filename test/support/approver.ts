/** Parked refunds, and the hand of an approver on them, below HTTP: the link's bits are read out of the object. */
import { codeOf } from '../../src/gate/outcome.ts';
import type { Policy } from '../../src/gate/ports.ts';
import type { DecisionAnswer, DecisionRequest, LinkProof, OpenRequest } from '../../src/gate/session/rpc.ts';
import { rowsIn } from './inside.ts';
import { shownOf } from './shown.ts';
import { newAgent, newOrder, outcomeOf, refund, stubOf, type Agent } from './session.ts';

export type Parked = { agent: Agent; order: string; id: string };

/** A refund of 25.90 of a new order, waiting for a person. */
export async function parkedRefund(
  changes: Partial<Policy> = {},
  opening: Partial<OpenRequest> = {},
  order?: string,
): Promise<Parked> {
  return parkIn(await newAgent(changes, opening), order);
}

/** The same in a session that is open already. */
export async function parkIn(agent: Agent, order?: string): Promise<Parked> {
  const order_id = order ?? (await newOrder());
  const { code, approval } = outcomeOf(await agent.call('refund_order', refund(order_id)));
  if (approval === undefined) throw new Error(`not parked: ${code}`);
  return { agent, order: order_id, id: approval.id };
}

/** What the link of one approver proves. */
export async function linkOf({ agent, id }: Parked, approver = 0): Promise<LinkProof> {
  const [row] = await rowsIn(agent.object, 'SELECT approvers FROM record WHERE approval_id = ?', id);
  const kept = JSON.parse(String(row?.['approvers'])) as { bits: string }[];
  return { approval_id: id, approver, bits: kept[approver]?.bits ?? '' };
}

/** The first approver approves, having seen nothing refunded, but for `changes`. */
export async function decide(parked: Parked, changes: Partial<DecisionRequest> = {}): Promise<DecisionAnswer> {
  return stubOf(parked.agent.object).decide({
    ...(await linkOf(parked, changes.approver)),
    decision: 'approve',
    phrase: '25.90',
    note: null,
    shown: changes.shown ?? shownOf(parked.order),
    request_id: 'req-decide',
    ...changes,
  });
}

export const reject = (parked: Parked, note: string | null = null): Promise<DecisionAnswer> =>
  decide(parked, { decision: 'reject', note, shown: '' });

export type Fate = { became: string; status: string; code: string | null };

/** What the decision became, and what the first approver's page says of it after that. */
export async function fateOf(parked: Parked, answer: DecisionAnswer): Promise<Fate> {
  const became = 'decided' in answer ? answer.decided : answer.refused;
  const seen = await parked.agent.stub().view(await linkOf(parked));
  if ('refused' in seen) return { became, status: seen.refused, code: null };
  const { status, result } = seen.view;
  if (result === null || result.ok) return { became, status, code: result === null ? null : 'OK' };
  return { became, status, code: codeOf(result.refusal) };
}

/** The state as the session's host polls it. */
export async function statusOf({ agent, id }: Parked): Promise<string> {
  const answer = await agent.stub().approval(agent.uid, id, 0);
  return 'refused' in answer ? answer.refused : answer.status;
}
