/**
 * Whether the books agree: the ledger's attempts and the totals it keeps by subject, the approvals as operators see them, and
 * the audit rows that tell of effects and decisions.
 */
import { approverHash, resultHash, shownHash } from '../src/gate/ledger/audit-row.ts';
import type { JsonObject } from '../src/gate/json.ts';

/** A row of the audit. Only rows with an attempt tell of an effect. `result_hash` is compared where it is given. */
export type BookedRow = {
  uid: string;
  seq: number;
  key: string | null;
  attempt: number | null;
  result_hash?: string | null;
};

/** An attempt as a list or a query of the ledger shows it. Its figures are compared where they are given. */
export type BookedAttempt = {
  call_key: string;
  attempt: number;
  uid: string;
  applied: boolean | number;
  backend?: string;
  subject?: string;
  amount_cents?: number | null;
  currency?: string | null;
  /** As JSON text where it comes from the database. */
  answer?: JsonObject | string | null;
};
export type SubjectTotal = { backend: string; subject: string; currency?: string; applied_cents: number };

/** The row that ended an action which a person had decided. */
export type BookedDecision = BookedRow & {
  approval_id: string | null;
  salt: string | null;
  approver_hash: string | null;
  shown_hash: string | null;
};

/** An approval as `/admin/approvals` shows it. */
export type BookedApproval = {
  id: string;
  uid: string;
  status: string;
  subject: string | null;
  amount_cents: number | null;
  currency: string | null;
  decided_at: string | null;
  actor: string | null;
  shown: string | null;
  delivery: { approver: number; email: string }[];
};

/** `uid` and `seq` are null where no single session or row is wrong. */
export type Disagreement = { uid: string | null; seq: number | null; problem: string };
export type OffTotal = Disagreement & { subject: { backend: string; subject: string } };

export type Decided = { approvals: readonly BookedApproval[]; rows: readonly BookedDecision[] };

type Books = {
  rows: readonly BookedRow[];
  attempts: readonly BookedAttempt[];
  /** All totals of the subjects that the attempts are about. */
  totals?: readonly SubjectTotal[];
  /** All approvals of the sessions that the rows are of, and the rows of decisions. */
  decided?: Decided;
};

/**
 * Every place where the books disagree: each applied attempt has one row and its figures, each such row its attempt, each total
 * its sum, each decided approval its decision.
 */
export const disagreements = ({ rows, attempts, totals, decided }: Books): Disagreement[] => [
  ...effectFaults(rows, attempts),
  ...figureFaults(rows, attempts),
  ...(totals === undefined ? [] : totalFaults(attempts, totals)),
  ...(decided === undefined ? [] : decisionFaults(decided, attempts)),
];

/** Each applied attempt has one row, of its session, and each row that tells of an effect its attempt. */
export function effectFaults(rows: Books['rows'], attempts: Books['attempts']): Disagreement[] {
  const found: Disagreement[] = [];
  const toldBy = new Map<string, BookedRow>();
  for (const row of rows) {
    if (row.attempt === null) continue;
    const name = effectName(row.key, row.attempt);
    if (toldBy.has(name)) found.push(at(row, 'tells of an effect that another row tells of'));
    else toldBy.set(name, row);
  }
  const applied = new Set<string>();
  const voids = new Set<string>();
  for (const attempt of attempts) {
    const { uid, call_key } = attempt;
    const name = effectName(call_key, attempt.attempt);
    const which = `call key ${call_key}, attempt ${attempt.attempt}`;
    const row = toldBy.get(name);
    const inSession = (problem: string): Disagreement => ({ uid, seq: null, problem });
    if (!isApplied(attempt)) voids.add(name);
    else if (applied.has(name)) found.push(inSession(`the ledger has two effects of one attempt: ${which}`));
    else if (row === undefined) found.push(inSession(`no row tells of the effect that the ledger has: ${which}`));
    else if (row.uid !== uid) found.push(at(row, 'tells of an effect that another session had'));
    if (isApplied(attempt)) applied.add(name);
  }
  for (const [name, row] of toldBy) {
    if (applied.has(name)) continue;
    const isVoid = voids.has(name);
    found.push(
      at(
        row,
        isVoid
          ? 'tells of an effect, but the ledger says that its attempt is void'
          : 'tells of an effect that the ledger does not have',
      ),
    );
  }
  return found;
}

/** The ledger's row still says what the audit row was written of. */
export function figureFaults(rows: Books['rows'], attempts: Books['attempts']): Disagreement[] {
  const applied = new Map(attempts.filter(isApplied).map((each) => [effectName(each.call_key, each.attempt), each]));
  return rows.flatMap((row) => {
    const attempt = row.attempt === null ? undefined : applied.get(effectName(row.key, row.attempt));
    return attempt === undefined || fits(row, attempt)
      ? []
      : [at(row, `was written of another result than ${shown(attempt)}`)];
  });
}

const isApplied = ({ applied }: BookedAttempt): boolean => Number(applied) === 1;

function fits({ result_hash }: BookedRow, { subject, amount_cents, currency, answer }: BookedAttempt): boolean {
  if (result_hash === undefined || subject === undefined || answer === undefined) return true;
  const read = typeof answer === 'string' ? (JSON.parse(answer) as JsonObject | null) : answer;
  const result = { subject, amount: amount_cents ?? null, currency: currency ?? null, answer: read };
  return resultHash(result) === result_hash;
}

function shown({ backend = '', subject = '', amount_cents, currency }: BookedAttempt): string {
  const amount = amount_cents == null ? 'no amount' : `${amount_cents} ${currency}`;
  return `the ledger has now (${backend} ${subject}, ${amount})`;
}

/** Each total is the sum of what was applied to its subject, in one currency. */
export function totalFaults(attempts: Books['attempts'], totals: readonly SubjectTotal[]): OffTotal[] {
  type Sum = { backend: string; subject: string; cents: number; currencies: Set<string> };
  const sums = new Map<string, Sum>();
  for (const attempt of attempts) {
    const { backend = '', subject = '', amount_cents = null, currency } = attempt;
    if (!isApplied(attempt) || amount_cents === null) continue;
    const name = `${backend} ${subject}`;
    const sum = sums.get(name) ?? { backend, subject, cents: 0, currencies: new Set() };
    sum.cents += amount_cents;
    if (currency != null) sum.currencies.add(currency);
    sums.set(name, sum);
  }
  const kept = new Map(totals.map((total) => [`${total.backend} ${total.subject}`, total]));
  return [...new Set([...sums.keys(), ...kept.keys()])].flatMap((name): OffTotal[] => {
    const [sum, total] = [sums.get(name), kept.get(name)];
    const subject = { backend: sum?.backend ?? total?.backend ?? '', subject: sum?.subject ?? total?.subject ?? '' };
    const wrong = (problem: string): OffTotal => ({
      ...{ uid: null, seq: null, subject },
      problem: `${name}: ${problem}`,
    });
    const [cents, applied_cents] = [sum?.cents ?? 0, total?.applied_cents ?? 0];
    if (cents !== applied_cents) return [wrong(`the total is ${applied_cents}, ${cents} was applied`)];
    const currencies = [...(sum?.currencies ?? []), ...(total?.currency === undefined ? [] : [total.currency])];
    const different = [...new Set(currencies)];
    return different.length > 1 ? [wrong(`more than one currency: ${different.join(', ')}`)] : [];
  });
}

/** An approval that was decided and has come to an end. */
const isDecided = ({ status, decided_at }: BookedApproval): boolean =>
  status === 'executed' || status === 'rejected' || (status === 'failed' && decided_at !== null);

/** Each decided approval has its row, by the person and on the facts that the list names. */
export function decisionFaults({ approvals: list, rows }: Decided, attempts: Books['attempts']): Disagreement[] {
  const found: Disagreement[] = [];
  const approvals = new Map(list.map((approval) => [approval.id, approval]));
  const effects = new Map(attempts.filter(isApplied).map((each) => [effectName(each.call_key, each.attempt), each]));
  const decided = new Set<string>();
  for (const row of rows) {
    const approval = approvals.get(row.approval_id ?? '');
    if (approval === undefined) {
      found.push(at(row, `decides approval ${row.approval_id}, which the list of approvals does not have`));
      continue;
    }
    decided.add(approval.id);
    const problem = decisionMisfit(row, approval, effects);
    if (problem !== null) found.push(at(row, `${problem} (approval ${approval.id})`));
  }
  for (const approval of list) {
    if (!isDecided(approval) || decided.has(approval.id)) continue;
    const problem = `approval ${approval.id} is ${approval.status}, but no row tells of the decision`;
    found.push({ uid: approval.uid, seq: null, problem });
  }
  return found;
}

function decisionMisfit(
  row: BookedDecision,
  approval: BookedApproval,
  effects: ReadonlyMap<string, BookedAttempt>,
): string | null {
  const { salt } = row;
  if (row.uid !== approval.uid) return 'decides an approval of another session';
  if (!isDecided(approval)) return `tells of a decision, but the list says ${approval.status}`;
  if ((row.attempt !== null) !== (approval.status === 'executed'))
    return `tells of another result than ${approval.status}`;
  const number = Number(/^approver:(\d+)$/.exec(approval.actor ?? '')?.[1]);
  const address = approval.delivery.find(({ approver }) => approver === number)?.email;
  if (salt === null) return 'has lost the salt that proves who decided';
  if (address === undefined || approverHash(salt, address) !== row.approver_hash)
    return `was decided by another person than ${address ?? 'nobody'}, whom the list names now`;
  if (shownHash(salt, approval.shown ?? '') !== row.shown_hash) return 'was decided on other facts than the list says';
  const effect = row.attempt === null ? undefined : effects.get(effectName(row.key, row.attempt));
  const isSame =
    effect === undefined ||
    ((approval.subject ?? effect.subject) === effect.subject &&
      approval.amount_cents === (effect.amount_cents ?? null) &&
      approval.currency === (effect.currency ?? null));
  return isSame ? null : 'approved another subject or amount than the ledger applied';
}

const at = ({ uid, seq }: BookedRow, problem: string): Disagreement => ({ uid, seq, problem });

const effectName = (key: string | null, attempt: number): string => `${key} ${attempt}`;
