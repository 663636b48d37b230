/** One session's behaviour over its ports: what the Durable Object and the simulation both run. */
import { toOutcome } from '../outcome.ts';
import type { RawCall } from '../pipeline/calls.ts';
import type { Settled } from '../pipeline/gate.ts';
import { runCall } from '../pipeline/pipeline.ts';
import { fingerprintOf, readArguments } from '../pipeline/stages/2-parse.ts';
import { transportRetry } from '../pipeline/transport-retry.ts';
import { AlarmWork } from './housekeeping.ts';
import { Alarms } from './alarm-clock.ts';
import { Approvals } from './approvals.ts';
import { readSession, scopeOf, theSession } from './session-row.ts';
import { headOf } from './audit-log.ts';
import { indexOf } from './log-index.ts';
import { delivered, mailTask } from './notifications.ts';
import { OpenEffects } from './open-effects.ts';
import { Opening } from './opening.ts';
import { Polls } from './polls.ts';
import type { SessionPorts } from './session-ports.ts';
import type { CallAnswer, CallRequest, Head, SessionRpc } from './rpc.ts';
import { hasTables } from './schema.ts';
import { SessionGate } from './session-gate.ts';
import { SessionTables, type OwnPorts } from './session-tables.ts';
import { GET_APPROVAL } from '../tool/get-approval.ts';
import { withGetApproval } from '../tool/registry.ts';

/** Refusals past the budget before the session is closed for calls: each still costs a row. */
const MAX_OVER_BUDGET = 100;

/** What the object's stub shows, and the alarm. */
export type SessionCore = SessionRpc & { alarm(): Promise<void> };

export function sessionCore(platform: SessionPorts): SessionCore {
  const sql = new SessionTables(platform.sql);
  const ports: OwnPorts = { ...platform, sql };
  const alarms = new Alarms(ports.alarm, ports.now);
  const polls = new Polls();
  const gate = new SessionGate(ports, alarms, polls);
  const opening = new Opening(ports, gate, alarms);
  const approvals = new Approvals(ports, gate, alarms, polls);
  const effects = new OpenEffects(ports, gate);
  const work = new AlarmWork(ports, gate, alarms);
  const isLive = (uid: string): boolean => {
    const session = readSession(sql);
    return session?.uid === uid && scopeOf(session).live === 'live';
  };

  const usableTools = (): string[] => withGetApproval(gate.scope().tools, ports.tools);

  return {
    open: (request) => opening.open(request),
    end: async (uid) => opening.end(uid),
    tell: async (change) => opening.tell(change),
    async call(request) {
      if (!isLive(request.uid)) return { refused: 'unauthorized' };
      const asksForApproval = request.tool === GET_APPROVAL && usableTools().includes(GET_APPROVAL);
      return asksForApproval ? approvals.tellAgent(request) : answerCall(request, gate, ports);
    },
    tools: async (uid) => (isLive(uid) ? usableTools() : null),
    approval: async (uid, id, waitSeconds) =>
      isLive(uid) ? approvals.poll(id, waitSeconds) : { refused: 'unauthorized' },
    view: (proof) => approvals.view(proof),
    decide: (request) => approvals.decide(request),
    mailTask: (message) => mailTask(message, (record) => approvals.viewOf(record), ports),
    async delivered(message, result) {
      delivered(message, result, ports);
      const due = work.nextDue();
      // Never later than it is armed for: reports that keep coming would put off the rows that wait.
      if (due !== null) alarms.arm(due);
    },
    resend: async (id, requestId) => approvals.resend(id, requestId),
    withdraw: async (id, requestId) => approvals.withdraw(id, requestId),
    effects: async () => effects.list(),
    settleEffect: (effectKey, order, requestId) => effects.settle(effectKey, order, requestId),
    resendEffect: (effectKey, requestId) => effects.resend(effectKey, requestId),
    heads: async () => headsOf(ports),
    wake: () => work.wake(),
    alarm: () => work.run(),
  };
}

async function answerCall(request: CallRequest, gate: SessionGate, ports: OwnPorts): Promise<CallAnswer> {
  const reading = readArguments(request.arguments);
  const raw: RawCall = {
    ...request,
    reading,
    trace_id: request.trace_id ?? null,
    fingerprint: fingerprintOf(request, reading),
    started_at: gate.now(),
  };
  const retry = transportRetry(raw, gate);
  if (retry === 'too_many') return { refused: 'too_many_retries' };
  if (retry === null && isExhausted(gate, ports)) return { refused: 'session_exhausted' };
  const settled = await gate.running.track(raw.call_id, raw.fingerprint, retry ?? runCall(raw, gate));
  return answerOf(settled, gate, ports);
}

function answerOf({ verdict, call_id, tool, step, audit }: Settled, gate: SessionGate, ports: OwnPorts): CallAnswer {
  const { max_steps } = gate.scope();
  const head = { call_id, tool, step, deprecated: ports.tools.get(tool)?.deprecatedBy };
  return {
    outcome: toOutcome(head, verdict),
    max_steps,
    steps_left: Math.max(0, max_steps - gate.stepsTaken()),
    audit,
  };
}

/** Closes the session for calls, with one row, when it went on past its budget for long enough. */
function isExhausted(gate: SessionGate, { sql }: OwnPorts): boolean {
  // Closed once, it stays closed, whatever the policy says by now.
  const index = indexOf(sql);
  if (index.countCode('SESSION_EXHAUSTED') > 0) return true;
  if (index.countCode('STEP_LIMIT') < MAX_OVER_BUDGET) return false;
  gate.settle({
    origin: { kind: 'event', actor: 'session', record: null, request_id: null },
    verdict: { ok: true, data: {}, replayed: false },
    event: 'SESSION_EXHAUSTED',
  });
  return true;
}

function headsOf({ sql }: OwnPorts): Head[] {
  if (!hasTables(sql)) return [];
  const forgotten = sql.all('SELECT uid, seq, hash FROM heads').map(({ uid, seq, hash }) => ({
    uid: String(uid),
    seq: Number(seq),
    hash: String(hash),
  }));
  return readSession(sql) === null ? forgotten : [...forgotten, headOf(sql, theSession(sql))];
}
