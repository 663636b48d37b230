/** Mistakes somebody could make in the product, each as a small change of its text. The checker must find every one. */
import { one, type PlantedBug } from './bug.ts';

const PIPELINE = 'src/gate/pipeline/pipeline.ts';
const IDEMPOTENCY = 'src/gate/pipeline/stages/4-idempotency.ts';
const ATTEMPTS = 'src/gate/ledger/attempts.ts';
const RECORDS = 'src/gate/session/records.ts';
const LOG = 'src/gate/session/audit-log.ts';
const ALARM = 'src/gate/session/housekeeping.ts';
const APPROVALS = 'src/gate/session/approvals.ts';
const TOKENS = 'src/gate/auth/tokens.ts';

const CLAIM = `  const record = call.open ?? gate.claim(intentOf(confirmed.call));
  const row = await sendEffect(confirmed.call, record, gate);`;
const SENT =
  '  const results = await ledger.batch([insertJudged(attempt, details, judgement, now()), readAttempt(attempt)]);';
const DELIVERED =
  'const stored = await deliverRows(rows, (given) => limited(ports, () => deliver(audit, given)), ports);';

/** The ones that the specification's authors asked for. */
export const NAMED: PlantedBug[] = [
  one(
    'claim after the await',
    PIPELINE,
    CLAIM,
    `
  const unclaimed = call.open ?? { ...intentOf(confirmed.call), round: 0 };
  const row = await sendEffect(confirmed.call, unclaimed, gate);
  const record = call.open ?? gate.claim(intentOf(confirmed.call));`,
  ),
  one(
    'settle by a read without a void',
    ATTEMPTS,
    `      const results = await ledger.batch([{ sql: VOID, params }, readAttempt(attempt)]);
      return`,
    `      const results = await ledger.batch([readAttempt(attempt)]);
      if (results.at(-1)?.[0] === undefined) return { applied: false, code, facts: {} };
      return`,
  ),
  one(
    'a void with guards',
    ATTEMPTS,
    `  VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, 0, ?12, '{}')`,
    `  SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, 0, ?12, '{}'
  WHERE EXISTS (SELECT 1 FROM sessions JOIN callers USING (caller_id) WHERE uid = ?6 AND revoked_at IS NULL)`,
  ),
  {
    name: 'a refused send without its void',
    replacements: [
      { file: ATTEMPTS, find: 'FROM guarded WHERE NOT (', replace: 'FROM guarded WHERE code IS NULL AND NOT (' },
      {
        file: ATTEMPTS,
        find: `${SENT}
  const row = results.at(-1)?.[0];`,
        replace: `${SENT}
  const row = results.at(-1)?.[0];
  if (row === undefined) return { applied: false, code: 'AMOUNT_EXCEEDS_REFUNDABLE', facts: {} };`,
      },
    ],
  },
  one(
    'guards tested before the row',
    ATTEMPTS,
    SENT,
    `  const [total] = await ledger.all('SELECT total_cents - coalesce(applied_cents, 0) AS refundable_cents, orders.currency FROM orders LEFT JOIN subject_totals ON subject = order_id WHERE order_id = ?1', attempt.subject);
  if (total !== undefined && Number(total['refundable_cents']) < (attempt.money?.amount_cents ?? 0)) {
    return { applied: false, code: 'AMOUNT_EXCEEDS_REFUNDABLE', facts: total };
  }
${SENT}`,
  ),
  {
    name: 'policy taken at arrival',
    replacements: [
      {
        file: PIPELINE,
        find: '  const checked = await businessRules(call, gate);',
        replace: '  const arrived = gate.scope();\n  const checked = await businessRules(call, gate);',
      },
      {
        file: PIPELINE,
        find: '  const permitted = policy(checked.call, gate);',
        replace: '  const permitted = policy(checked.call, gate, arrived);',
      },
      {
        file: PIPELINE,
        find: 'const confirmed = confirmation(permitted.call, gate);\n  if (!confirmed.ok) return call.open',
        replace:
          'const confirmed = confirmation(permitted.call, { scope: () => arrived });\n  if (!confirmed.ok) return call.open',
      },
      {
        file: 'src/gate/pipeline/stages/6-policy.ts',
        find: 'export function policy(call: CheckedCall, gate: Gate): Step<PermittedCall> {\n  const scope = gate.scope();',
        replace: 'export function policy(call: CheckedCall, gate: Gate, scope = gate.scope()): Step<PermittedCall> {',
      },
    ],
  },
  one(
    'effect key made anew for each send',
    'src/gate/pipeline/stages/8-execute.ts',
    'const effect_key = effectKeyOf(record);',
    'const effect_key = effectKeyOf({ key, attempt: attempt * 1e6 + (gate.now() % 1e6) });',
  ),
  one(
    'key without session uid',
    IDEMPOTENCY,
    `['toolgate-1', caller_id, uid, name,`,
    `['toolgate-1', caller_id, name,`,
  ),
  one(
    'key recomputed after a deploy',
    IDEMPOTENCY,
    `hashOf(['toolgate-1',`,
    `hashOf(['toolgate-' + Math.floor(gate.now() / 60_000),`,
  ),
  {
    name: 'approve on GET',
    replacements: [
      {
        file: APPROVALS,
        find: 'import { viewOf }',
        replace: "import { digestsOf } from '../tool/facts.ts';\nimport { viewOf }",
      },
      {
        file: APPROVALS,
        find: `    return record === null ? { refused: 'bad_link' } : { view: await this.viewOf(record) };`,
        replace: `    if (record === null) return { refused: 'bad_link' };
    const { view } = { view: await this.viewOf(record) };
    if (view.status === 'pending') await this.decide({ ...proof, decision: 'approve', phrase: view.phrase, note: null, shown: digestsOf(view.facts ?? []), request_id: 'get' });
    return { view };`,
      },
    ],
  },
  {
    name: 'decide twice',
    replacements: [
      {
        file: APPROVALS,
        find: `if (record.state !== 'pending' || expire(record, 'session', this.#gate)) return { refused: 'already_decided'`,
        replace: `if (record.state === 'expired' || expire(record, 'session', this.#gate)) return { refused: 'already_decided'`,
      },
      { file: RECORDS, find: 'if (!TRANSITIONS[state].includes(to)) throw', replace: 'if (state === to) throw' },
    ],
  },
  one(
    'arguments re-read at execution',
    RECORDS,
    `sql.all('SELECT * FROM record WHERE key = ? AND round = ?', key, round)`,
    `sql.all('SELECT *, (SELECT input FROM record AS other WHERE other.subject = record.subject ORDER BY step DESC LIMIT 1) AS input FROM record WHERE key = ? AND round = ?', key, round)`,
  ),
  one(
    'policy of yesterday',
    'src/gate/session/session-row.ts',
    'if (version <= theSession(sql).policy_version) return;',
    'if (version > theSession(sql).policy_version) return;',
  ),
  {
    name: 'unknown retried under a new attempt',
    replacements: [
      { file: RECORDS, find: `WHERE key = ? AND ledger IS NOT NULL'`, replace: `WHERE key = ?'` },
      {
        file: IDEMPOTENCY,
        find: 'verdict: unsettled } : judged(call, record, gate);',
        replace: 'verdict: unsettled } : judged(call, null, gate);',
      },
    ],
  },
  {
    name: 'pending pruned',
    replacements: [
      {
        file: ALARM,
        find: 'if (this.#ports.now() < forgetAt(sql) || openRecords(sql).length > 0) return;',
        replace: `sql.all("DELETE FROM record WHERE state = 'pending' AND opened_at < ?", this.#ports.now() - 30_000);
    if (this.#ports.now() < forgetAt(sql)) return;`,
      },
    ],
  },
  {
    name: 'alarm not re-armed',
    replacements: [
      {
        file: ALARM,
        find: 'if (next !== null) this.#alarms.arm(isDone ? next : this.#ports.now() + MAX_BACKOFF_MS);',
        replace: '',
      },
    ],
  },
  one(
    'audit row written after the answer',
    LOG,
    "  insertInto(sql, 'log', {",
    "  const later = (...given) => setTimeout(() => insertInto(...given), 100);\n  later(sql, 'log', {",
  ),
  one(
    'asynchronous chain hash',
    LOG,
    '  index.last = { seq, hash, at: circumstances.at };',
    '  void Promise.resolve().then(() => (index.last = { seq, hash, at: circumstances.at }));',
  ),
  one(
    'replay of a refusal',
    IDEMPOTENCY,
    `      case 'expired':
      case 'failed':
        return judged(call, null, gate);`,
    `      case 'expired':
      case 'failed':
        return { answered: true, record, verdict: verdictOf(record) };`,
  ),
  {
    name: 'link audience unchecked',
    replacements: [
      { file: TOKENS, find: '        return ring.keys[audience];', replace: '        return ring.keys.session;' },
      { file: TOKENS, find: '    .sign(keys[audience]);', replace: '    .sign(keys.session);' },
      { file: TOKENS, find: '        audience,\n        requiredClaims', replace: '        requiredClaims' },
      { file: TOKENS, find: `aud: z.literal('approval')`, replace: 'aud: z.string()' },
    ],
  },
  one(
    'joined call answered before it is durable',
    IDEMPOTENCY,
    `      joined = true;
      await gate.whenFree(call.key);`,
    `      joined = true;
      const claimed = gate.records.current(call.key);
      if (claimed?.state === 'claimed') return { answered: true, record: claimed, verdict: { ok: true, data: claimed.seen, replayed: true } };
      await gate.whenFree(call.key);`,
  ),
  one(
    'watermark moved without reading back',
    'src/gate/session/outbox.ts',
    DELIVERED,
    `const stored = rows.at(-1)?.hash ?? null;
  await deliverRows(rows, (given) => limited(ports, () => deliver(audit, given)), ports).catch(() => null);`,
  ),
];
