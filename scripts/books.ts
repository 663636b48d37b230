/** Whether the books agree: the ledger's attempts, the totals it keeps by subject, and the audit rows that tell of effects. */

/** A row of the audit. Only rows with an attempt tell of an effect. */
export type BookedRow = { uid: string; seq: number; key: string | null; attempt: number | null };
/** What a total is made of is known to those who read the database. */
export type BookedAttempt = {
  call_key: string;
  attempt: number;
  uid: string;
  applied: boolean | number;
  backend?: string;
  subject?: string;
  amount_cents?: number | null;
};
export type SubjectTotal = { backend: string; subject: string; applied_cents: number };

/** `uid` and `seq` are null where no single session or row is wrong. */
export type Disagreement = { uid: string | null; seq: number | null; problem: string };

type Books = {
  rows: readonly BookedRow[];
  attempts: readonly BookedAttempt[];
  /** All totals of the subjects that the attempts are about; the operator's lists do not show them. */
  totals?: readonly SubjectTotal[];
};

/** Every place where the books disagree: each applied attempt has one row, each such row its attempt, each total its sum. */
export const disagreements = ({ rows, attempts, totals }: Books): Disagreement[] => [
  ...effectFaults(rows, attempts),
  ...(totals === undefined ? [] : totalFaults(attempts, totals)),
];

function effectFaults(rows: Books['rows'], attempts: Books['attempts']): Disagreement[] {
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
  for (const { uid, call_key, attempt, applied: isApplied } of attempts) {
    const name = effectName(call_key, attempt);
    const row = toldBy.get(name);
    const which = `call key ${call_key}, attempt ${attempt}`;
    if (Number(isApplied) === 0) voids.add(name);
    else if (applied.has(name))
      found.push({ uid, seq: null, problem: `the ledger has two effects of one attempt: ${which}` });
    else if (row === undefined)
      found.push({ uid, seq: null, problem: `no row tells of the effect that the ledger has: ${which}` });
    else if (row.uid !== uid) found.push(at(row, 'tells of an effect that another session had'));
    if (Number(isApplied) === 1) applied.add(name);
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

function totalFaults(attempts: Books['attempts'], totals: readonly SubjectTotal[]): Disagreement[] {
  const sums = new Map<string, number>();
  for (const { backend = '', subject = '', amount_cents = null, applied } of attempts) {
    const name = `${backend} ${subject}`;
    if (Number(applied) === 1 && amount_cents !== null) sums.set(name, (sums.get(name) ?? 0) + amount_cents);
  }
  const kept = new Map(totals.map(({ backend, subject, applied_cents }) => [`${backend} ${subject}`, applied_cents]));
  return [...new Set([...sums.keys(), ...kept.keys()])].flatMap((name) => {
    const [sum = 0, total = 0] = [sums.get(name), kept.get(name)];
    return sum === total
      ? []
      : [{ uid: null, seq: null, problem: `${name}: the total is ${total}, ${sum} was applied` }];
  });
}

const at = ({ uid, seq }: BookedRow, problem: string): Disagreement => ({ uid, seq, problem });

const effectName = (key: string | null, attempt: number): string => `${key} ${attempt}`;
