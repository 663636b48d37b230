/** Whatever a session's object can be asked for, once each: what the crash matrix runs through. */
import { propose } from '../../src/gate/http/agent/send-call.ts';
import type { CallAnswer } from '../../src/gate/session/rpc.ts';
import { decisionOn, HOUR_MS } from './effects.ts';
import { aboutUnknown, decidingElsewhere, elsewhere, foundThere, passTime, unknownElsewhere } from './elsewhere.ts';
import { changePolicy, revokeUnheard, tell } from './inside.ts';
import { refund } from './session.ts';
import {
  UNASKED,
  toldBy,
  wordBy,
  prepared,
  callOf,
  claimed,
  parked,
  deciding,
  approved,
  runsAlarm,
  backdate,
  about,
  reading,
  opening,
  approvalMessage,
  type Begun,
} from './begun.ts';

export type CallType = {
  make(): Promise<Begun>;
  /** What the session's last record may be in the end, once it was begun again. */
  again: string[];
  /** The same where nobody but the alarm came after the fault. */
  alone: string[];
  /** More than one asks for the same: what one is told of itself says nothing of the others. */
  isShared?: true;
  /** The effect is in another system: it is settled by look-ups and resends, and time must pass for the alarm. */
  isElsewhere?: true;
};

const quiet = { again: ['none'], alone: ['none'] };
const waits = { again: ['pending'], alone: ['pending'] };

export const callTypes: Record<string, CallType> = {
  'read: calculator': { ...quiet, make: () => reading('calculator', { expression: '1 + 1' }) },
  'read: count_documents': { ...quiet, make: () => reading('count_documents', { status: 'current' }) },
  'read: get_order': { ...quiet, make: () => reading('get_order', {}) },
  'read: lookup_document': { ...quiet, make: () => reading('lookup_document', { doc_id: 'kc-warranty-v2' }) },
  'read: search_transactions': {
    ...quiet,
    make: () => reading('search_transactions', { account_id: 'ACC-98124501', start_date: '2026-01-01' }),
  },
  'refused in stage 3': { ...quiet, make: async () => callOf(await prepared({}, { amount_cents: '1' })) },
  'refused in stage 5': { ...quiet, make: async () => callOf(await prepared({}, { amount_cents: 12_001 })) },
  'refused in stage 6': { ...quiet, make: async () => callOf(await prepared({ max_refund_cents: 1 })) },
  'refused in stage 8': {
    again: ['failed'],
    alone: ['none', 'failed'],
    async make() {
      const ready = await prepared(UNASKED);
      await revokeUnheard(ready.agent);
      return callOf(ready);
    },
  },
  'refund without approval': {
    again: ['executed', 'failed'],
    alone: ['none', 'failed', 'executed'],
    make: async () => callOf(await prepared(UNASKED)),
  },
  'sent by the Worker': {
    again: ['executed', 'failed'],
    alone: ['none', 'failed', 'executed'],
    async make() {
      const { agent, order, ask } = await prepared(UNASKED);
      const call = {
        uid: agent.uid,
        tool: 'refund_order',
        arguments: refund(order),
        call_id: 'same',
        request_id: 'req',
      };
      return { agent, order, ask, begin: () => toldBy(propose(agent.stub, call) as Promise<CallAnswer>) };
    },
  },
  'confirmation required': {
    again: ['pending'],
    alone: ['none', 'pending'],
    make: async () => callOf(await prepared({})),
  },
  'identical calls that join': {
    isShared: true,
    again: ['executed', 'failed'],
    alone: ['none', 'failed', 'executed'],
    async make() {
      const ready = await prepared(UNASKED);
      return { ...ready, begin: async () => (await Promise.all([ready.ask('same'), ready.ask('joining')]))[0] };
    },
  },
  'call that resumes a claim': {
    again: ['executed', 'failed'],
    alone: ['failed', 'executed'],
    make: async () => callOf(await claimed()),
  },
  'call that resumes a claim and is refused': {
    again: ['failed'],
    alone: ['failed'],
    async make() {
      const ready = await claimed();
      await changePolicy(ready.agent, { max_refund_cents: 1 });
      return callOf(ready);
    },
  },
  'call that resumes a claim and needs a person now': {
    again: ['pending', 'failed'],
    alone: ['failed', 'pending'],
    async make() {
      const ready = await claimed();
      await changePolicy(ready.agent, { confirm_above_cents: 0 });
      return callOf(ready);
    },
  },
  'call that resumes what was approved': {
    again: ['executed'],
    alone: ['executed'],
    make: async () => callOf(await approved()),
  },
  'call that resumes what was approved and is refused': {
    again: ['failed'],
    alone: ['failed'],
    async make() {
      const ready = await approved();
      await changePolicy(ready.agent, { max_refund_cents: 1 });
      return callOf(ready);
    },
  },
  'transport retry of a settled call': {
    again: ['executed'],
    alone: ['executed'],
    async make() {
      const ready = await prepared(UNASKED);
      await ready.ask('same');
      return callOf(ready);
    },
  },
  'transport retry of a call that died': {
    again: ['executed', 'failed'],
    alone: ['failed', 'executed'],
    make: async () => callOf(await claimed('dies, and it lands late', 'same')),
  },
  approve: { again: ['executed'], alone: ['pending', 'executed'], make: () => deciding() },
  'approve what is refused': {
    again: ['failed'],
    alone: ['pending', 'failed'],
    make: () => deciding({}, { max_refund_cents: 1 }),
  },
  'approve with the wrong phrase': { ...waits, make: () => deciding({ phrase: '1' }) },
  reject: { again: ['rejected'], alone: ['pending', 'rejected'], make: () => deciding({ decision: 'reject' }) },
  view: {
    ...waits,
    async make() {
      const { id, ...ready } = await parked();
      const proof = await decisionOn(ready.agent, id);
      return { ...ready, begin: () => wordBy(ready.agent.stub().view(proof), () => 'seen') };
    },
  },
  withdraw: {
    again: ['failed', 'pending'],
    alone: ['pending', 'failed'],
    make: about(({ agent, id }) => agent.stub().withdraw(id, 'req')),
  },
  resend: { ...waits, make: about(({ agent, id }) => agent.stub().resend(id, 'req')) },
  approval: { ...waits, make: about(({ agent, id }) => agent.stub().approval(agent.uid, id, 0)) },
  mailTask: { ...waits, make: about((ready) => ready.agent.stub().mailTask(approvalMessage(ready))) },
  delivered: { ...waits, make: about((ready) => ready.agent.stub().delivered(approvalMessage(ready), 'sent')) },
  tools: { ...waits, make: about(({ agent }) => agent.stub().tools(agent.uid)) },
  heads: { ...waits, make: about(({ agent }) => agent.stub().heads()) },
  wake: { ...waits, make: about(({ agent }) => agent.stub().wake()) },
  end: { again: ['failed'], alone: ['pending', 'failed'], make: about(({ agent }) => agent.stub().end(agent.uid)) },
  tell: {
    again: ['failed'],
    alone: ['pending', 'failed'],
    async make() {
      const ready = await parked();
      await revokeUnheard(ready.agent);
      return { ...ready, begin: () => wordBy(tell(ready.agent)) };
    },
  },
  open: { ...quiet, make: () => opening() },
  'open that is refused': { ...quiet, make: () => opening({ max_steps: 1_000 }) },
  rejoin: {
    ...quiet,
    async make() {
      const begun = await opening();
      await begun.begin();
      return begun;
    },
  },
  'refund in another system': {
    isElsewhere: true,
    again: ['executed', 'failed'],
    alone: ['none', 'failed', 'executed'],
    make: () => elsewhere(),
  },
  'approve in another system': {
    isElsewhere: true,
    again: ['executed'],
    alone: ['pending', 'executed'],
    make: () => decidingElsewhere(),
  },
  'call that settles an unknown in another system': {
    isElsewhere: true,
    again: ['executed'],
    alone: ['executed'],
    make: () => unknownElsewhere(),
  },
  'call that sends again to another system': {
    isElsewhere: true,
    again: ['executed'],
    alone: ['executed'],
    make: () => unknownElsewhere('fails'),
  },
  effects: {
    isElsewhere: true,
    again: ['executed'],
    alone: ['executed'],
    make: aboutUnknown(({ agent }) => agent.stub().effects()),
  },
  settleEffect: {
    isElsewhere: true,
    again: ['executed'],
    alone: ['executed'],
    make: aboutUnknown((ready, key) => ready.agent.stub().settleEffect(key, foundThere(ready), 'req')),
  },
  resendEffect: {
    isElsewhere: true,
    again: ['executed'],
    alone: ['executed'],
    make: aboutUnknown(({ agent }, key) => agent.stub().resendEffect(key, 'req')),
  },
  'alarm: settle an unknown in another system': {
    isElsewhere: true,
    again: ['executed'],
    alone: ['executed'],
    async make() {
      const ready = await unknownElsewhere();
      await passTime(ready.agent);
      return runsAlarm(ready);
    },
  },
  'alarm: send again to another system': {
    isElsewhere: true,
    again: ['executed'],
    alone: ['executed'],
    async make() {
      const ready = await unknownElsewhere('fails');
      await passTime(ready.agent);
      return runsAlarm(ready);
    },
  },
  'alarm: mail': { ...waits, make: async () => runsAlarm(await parked()) },
  'alarm: notice': {
    ...quiet,
    async make() {
      const ready = await prepared({ max_refund_cents: 1 });
      await ready.ask('earlier');
      return runsAlarm(ready);
    },
  },
  'alarm: report': {
    ...quiet,
    async make() {
      const ready = await prepared({}, { amount_cents: '1' });
      await ready.ask('earlier');
      return runsAlarm(ready);
    },
  },
  'alarm: settle what never arrived': {
    again: ['failed', 'executed'],
    alone: ['failed'],
    make: async () => runsAlarm(await claimed()),
  },
  'alarm: settle what was applied': {
    again: ['executed'],
    alone: ['executed'],
    make: async () => runsAlarm(await claimed('is done, and answers with an error')),
  },
  'alarm: resume': { again: ['executed'], alone: ['executed'], make: async () => runsAlarm(await approved()) },
  'alarm: resume what was applied': {
    again: ['executed'],
    alone: ['executed'],
    make: async () => runsAlarm(await approved('is done, and answers with an error')),
  },
  'alarm: give up after an hour': {
    again: ['failed', 'pending'],
    alone: ['failed'],
    make: async () => runsAlarm(await backdate(await approved(), 'decided_at', 2 * HOUR_MS)),
  },
  'alarm: expire': {
    again: ['expired', 'pending'],
    alone: ['expired'],
    make: async () => runsAlarm(await backdate(await parked(), 'expires_at', 48 * HOUR_MS)),
  },
};
