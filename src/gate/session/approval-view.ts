/** What an approver's page and mail show of a record: what the ledger says now, apart from what the agent claims. */
import { phraseOf } from '../money/money.ts';
import type { Gate } from '../pipeline/gate.ts';
import { statusOf, verdictOf } from '../pipeline/record-verdict.ts';
import type { EffectRecord } from '../ports.ts';
import { otherApprovals } from '../ledger/approval-rows.ts';
import { isPaused } from '../policy/pauses.ts';
import { scopeOf, theSession } from './session-row.ts';
import type { OwnPorts } from './session-tables.ts';
import { appliedBefore, sentOf } from './records.ts';
import type { ApprovalView } from './rpc.ts';
import { boundedNames } from '../tool/bounded.ts';

const OTHERS_SINCE_MS = 30 * 24 * 60 * 60 * 1000;
const READ_LIMIT_MS = 5_000;

/** Neither reads nor writes the session: opening a link changes nothing. */
export async function viewOf(record: EffectRecord, ports: OwnPorts, gate: Gate): Promise<ApprovalView> {
  const { sql, now } = ports;
  const { approval, money, state } = record;
  if (approval === null) throw new Error('a record without an approval has no page');
  const session = theSession(sql);
  const isOver = state === 'pending' && now() >= approval.expires_at;
  const isSettled = state === 'executed' || state === 'failed' || state === 'rejected';
  const read = await readLedger(record, approval.id, ports, gate);
  return {
    id: approval.id,
    status: isOver ? 'expired' : statusOf(record),
    paused: isPaused(scopeOf(session), record.tool),
    tool: record.tool,
    caller_name: session.caller_name,
    session_id: session.session_id,
    opened_at: approval.opened_at,
    expires_at: approval.expires_at,
    decided_at: approval.decided_at,
    decided_by: approval.decided_by,
    note: approval.note,
    sent: sentOf(record),
    result: isSettled ? verdictOf(record) : null,
    claimed: {
      amount_cents: money?.amount_cents ?? null,
      currency: money?.currency ?? null,
      arguments: record.input,
      bounded: boundedNames(ports.tools.get(record.tool)?.inputSchema ?? {}, record.input),
    },
    facts: read?.facts ?? null,
    others: read?.others ?? [],
    others_left: read?.others_left ?? 0,
    applied_before: appliedBefore(sql, record).map(({ attempt, answer }) => ({ attempt, answer: answer ?? {} })),
    phrase: phraseOf(money, approval.id),
  };
}

/** What the ledger says now; null where it cannot be read, which hides nothing and refuses nothing. */
async function readLedger(
  record: EffectRecord,
  id: string,
  ports: OwnPorts,
  gate: Gate,
): Promise<Pick<ApprovalView, 'facts' | 'others' | 'others_left'> | null> {
  const { upstream, tools, ledger, now } = ports;
  const { customer_id } = scopeOf(theSession(ports.sql));
  const { subject, money } = record;
  const valid = tools.get(record.tool)?.bind(record.input);
  const effect = valid?.ok === true && valid.bound.effect === 'keyed' ? valid.bound : null;
  const limits = { tryMs: READ_LIMIT_MS, deadline: now() + READ_LIMIT_MS };
  try {
    const [checked, { others, left }] = await upstream.run(
      (signal) =>
        Promise.all([
          effect?.check(ports, { customer_id, signal }),
          subject === null
            ? { others: [], left: 0 }
            : otherApprovals(ledger, { subject, exceptId: id, since: now() - OTHERS_SINCE_MS, money }),
        ]),
      limits,
    );
    return { facts: checked?.seen === undefined ? [] : (effect?.facts(checked.seen) ?? []), others, others_left: left };
  } catch (error) {
    gate.report(gate.newId('err'), error);
    return null;
  }
}
