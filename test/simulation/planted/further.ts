import { one, type PlantedBug } from './bug.ts';

const PIPELINE = 'src/gate/pipeline/pipeline.ts';
const APPROVED = 'src/gate/pipeline/stored-actions.ts';
const IDEMPOTENCY = 'src/gate/pipeline/stages/4-idempotency.ts';
const ATTEMPTS = 'src/gate/ledger/attempts.ts';
const REFUND_ORDER = 'src/tools/orders/refund-order.ts';
const GATE = 'src/gate/session/session-gate.ts';
const RECORDS = 'src/gate/session/records.ts';
const APPROVALS = 'src/gate/session/approvals.ts';

/** Mistakes beside the named ones, which their neighbours in the code invite. */
export const FURTHER: PlantedBug[] = [
  one(
    'revocation not asked by the ledger',
    ATTEMPTS,
    'WHERE caller_id = ${caller} AND revoked_at IS NULL',
    'WHERE caller_id = ${caller}',
  ),
  one('claim before the last attempt is settled', RECORDS, `(ledger = 'applied' OR `, `(ledger = 'applied' AND `),
  {
    name: 'expired approvals still approve',
    replacements: [
      {
        file: GATE,
        find: `if (state !== 'pending' || approval === null || this.now() >= approval.expires_at) return null;`,
        replace: `if (state !== 'pending' || approval === null) return null;`,
      },
      {
        file: APPROVED,
        find: `|| gate.now() < record.approval.expires_at) return false;`,
        replace: `|| actor === 'session' || gate.now() < record.approval.expires_at) return false;`,
      },
    ],
  },
  one(
    'rejection forgotten',
    IDEMPOTENCY,
    `      case 'rejected':
        return { answered: true, record, verdict: verdictOf(record) };`,
    `      case 'rejected':
        return judged(call, null, gate);`,
  ),
  one(
    'session end leaves what is pending',
    'src/gate/session/opening.ts',
    `    this.#failPending({ code: 'SESSION_ENDED' });\n`,
    '',
  ),
  one('steps begin anew after a death', GATE, '(this.#step ??= highestStep(this.#ports.sql))', '(this.#step ??= 0)'),
  one(
    'claim does not arm the alarm',
    GATE,
    `    this.#alarms.arm(this.now() + TRAVEL_MS);
    const record = openRecord(this.#ports.sql, intent, null);`,
    '    const record = openRecord(this.#ports.sql, intent, null);',
  ),
  one(
    'alarm given up is not armed again',
    'src/gate/session/alarm-clock.ts',
    'const armed = await this.#alarm.get();',
    'const armed = this.#armedFor ?? this.#now();',
  ),
  one(
    'key given back before the end',
    PIPELINE,
    '    return await judgeEffect(consulted.call, gate);',
    '    consulted.release();\n    return await judgeEffect(consulted.call, gate);',
  ),
  one('late report wins', 'src/gate/ledger/sessions.ts', 'WHERE uid = ?1 AND version < ?4', 'WHERE uid = ?1'),
  one(
    'removed approver still decides',
    APPROVALS,
    'return scopeOf(session).approvers.includes(approver.email) ? record : null;',
    'return record;',
  ),
  one(
    'mails never leave',
    'src/gate/session/notifications.ts',
    `record.state === 'pending' && approversOf(sql, record).some(({ queued_at }) => queued_at === null)`,
    'false',
  ),
  one('stale pages approve', APPROVED, `if (factsChanged(checked, decision)) return 'stale';`, ''),
  {
    name: "another customer's order",
    replacements: [
      {
        file: REFUND_ORDER,
        find: 'orders.find(refund.order_id, customer_id)',
        replace: 'orders.find(refund.order_id, null)',
      },
      {
        file: REFUND_ORDER,
        find: 'params: [order_id, amount_cents, currency, customer_id]',
        replace: 'params: [order_id, amount_cents, currency, null]',
      },
    ],
  },
  one(
    'steps without end',
    'src/gate/pipeline/stages/0-step-budget.ts',
    'call.step > max_steps',
    'call.step > Infinity',
  ),
  one(
    'the first approver bound, whoever decided',
    'src/gate/session/audit-log.ts',
    'const approver = approversOf(sql, record)[decided_by];',
    'const approver = approversOf(sql, record)[0];',
  ),
  one(
    'what the check saw bound as the result',
    'src/gate/session/audit-log.ts',
    'resultHash({ subject, amount, currency, answer })',
    'resultHash({ subject, amount, currency, answer: record.seen })',
  ),
];
