/**
 * The verifying itself, without any reading: it is handed rows, attempts and heads, in this order, and says what is wrong.
 * Rows travel within seconds, so what is missing at first is kept as late and judged after a second look.
 */
import { argumentsHash, chainHash, firstPrevious, type AuditRow } from '../src/gate/ledger/audit-row.ts';
import { disagreements, type BookedAttempt, type BookedRow, type Disagreement } from './books.ts';

/** Where something is wrong; `seq` is null where no single row is. */
export type Broken = {
  caller_id: string | null;
  session_id: string | null;
  uid: string;
  seq: number | null;
  problem: string;
};

export type Place = Pick<AuditRow, 'uid' | 'caller_id' | 'session_id'>;
export type Head = Place & { seq: number; hash: string };

/** How far a chain has been followed: the head that its rows so far add up to. */
type Chain = Head;

export class Verification {
  readonly #chains = new Map<string, Chain>();
  /** The rows that tell of effects. */
  readonly #effects: BookedRow[] = [];
  readonly #attempts: BookedAttempt[] = [];
  readonly #lateHeads = new Map<string, Head>();
  readonly #headless = new Map<string, Place>();
  readonly #places = new Map<string, Place>();

  /** A row of the audit, each session's in the order of `seq`. Checks it against the one before it and goes on from it. */
  takeRow(row: AuditRow): Broken | null {
    const chain = this.#chains.get(row.uid) ?? emptyChain(row);
    if (row.caller_id !== chain.caller_id || row.session_id !== chain.session_id)
      return brokenAt(row, 'names another session than the rows before it');
    if (row.seq !== chain.seq + 1) return brokenAt({ ...row, seq: chain.seq + 1 }, 'is missing');
    if (chainHash(chain.hash, row) !== row.hash) return brokenAt(row, 'was changed, or the row before it');
    const misfit = argumentsMisfit(row);
    if (misfit !== null) return brokenAt(row, misfit);
    const { uid, seq, key, attempt, hash } = row;
    if (attempt !== null) this.#effects.push({ uid, seq, key, attempt });
    if (chain.seq === 0) this.#headless.set(uid, placeOf(row));
    this.#chains.set(uid, { ...placeOf(row), seq, hash });
    return null;
  }

  /** Takes an attempt of the ledger. All rows must have been taken before. */
  takeAttempt(attempt: BookedAttempt): void {
    this.#attempts.push(attempt);
  }

  /** The end of a chain by the word of its session object, after all rows. */
  takeHead(head: Head): Broken | null {
    this.#places.set(head.uid, placeOf(head));
    this.#headless.delete(head.uid);
    const chain = this.#chains.get(head.uid) ?? emptyChain(head);
    if (chain.seq > head.seq) return brokenAt({ ...head, seq: head.seq + 1 }, 'is not known to its session object');
    if (chain.seq === head.seq) return this.#meets(head, chain);
    this.#lateHeads.set(head.uid, head);
    return null;
  }

  /** Says which chain has no head, after all heads: rows that no session object vouches for. */
  endHeads(): Broken | null {
    const [place] = this.#headless.values();
    return place === undefined ? null : { ...place, seq: null, problem: 'no session object vouches for this chain' };
  }

  /** The sessions to read again, since rows of theirs may have been on their way. */
  late(): Place[] {
    const untold = this.#disagreements().flatMap(({ uid, seq }) => (uid !== null && seq === null ? [uid] : []));
    const uids = [...this.#lateHeads.keys(), ...untold];
    return [...new Set(uids)].flatMap((uid) => this.#places.get(uid) ?? []);
  }

  /** A row of the second look; rows seen before are passed over. */
  takeLateRow(row: AuditRow): Broken | null {
    if (row.seq <= (this.#chains.get(row.uid)?.seq ?? 0)) return null;
    const broken = this.takeRow(row);
    if (broken !== null) return broken;
    if (row.attempt !== null && !this.#isInLedger(row)) this.#effects.pop();
    const head = this.#lateHeads.get(row.uid);
    if (head?.seq !== row.seq) return null;
    this.#lateHeads.delete(row.uid);
    return this.#meets(head, row);
  }

  /** Says what is missing and where the books disagree, after the second look. */
  end(): Broken | null {
    const [head] = this.#lateHeads.values();
    if (head !== undefined) {
      const seq = (this.#chains.get(head.uid)?.seq ?? 0) + 1;
      return brokenAt(
        { ...head, seq },
        `is missing: the session object has rows up to ${head.seq}; after an outage of D1 they may take five minutes to travel`,
      );
    }
    const [first] = this.#disagreements();
    if (first?.uid == null) return null;
    return { ...(this.#places.get(first.uid) ?? unknownPlace(first.uid)), ...first, uid: first.uid };
  }

  /** An effect of the second look may have been applied after the ledger was read. */
  #isInLedger = ({ key, attempt }: BookedRow): boolean =>
    this.#attempts.some((each) => each.call_key === key && each.attempt === attempt);

  #disagreements = (): Disagreement[] => disagreements({ rows: this.#effects, attempts: this.#attempts });

  get counts(): { rows: number; sessions: number; effects: number } {
    const rows = [...this.#chains.values()].reduce((sum, { seq }) => sum + seq, 0);
    return { rows, sessions: this.#chains.size, effects: this.#effects.length };
  }

  #meets(head: Head, { seq, hash }: Pick<Chain, 'seq' | 'hash'>): Broken | null {
    return hash === head.hash ? null : brokenAt({ ...head, seq }, 'is another than its session object has');
  }
}

type WholeBooks = Omit<Parameters<typeof disagreements>[0], 'rows'> & { rows: readonly AuditRow[] };

/** All that is wrong with whole chains and the attempts of their sessions, by those who hold them at once. */
export function bookFaults({ rows, ...ledger }: WholeBooks): Disagreement[] {
  const chain = new Verification();
  const steps = new Set<string>();
  const faults: Disagreement[] = [];
  for (const row of rows) {
    const broken = chain.takeRow(row);
    if (broken !== null) faults.push(broken);
    const place = `${row.uid} step ${row.step}`;
    if (row.kind === 'call' && steps.has(place)) faults.push(brokenAt(row, 'takes a step that another call took'));
    if (row.kind === 'call') steps.add(place);
  }
  return [...faults, ...disagreements({ rows, ...ledger })];
}

const emptyChain = (place: Place): Chain => ({
  ...placeOf(place),
  seq: 0,
  hash: firstPrevious(place.caller_id, place.session_id, place.uid),
});

/** Erased and withheld arguments have no salt, because with the salt they could be guessed. A decision has its approver's. */
function argumentsMisfit(row: AuditRow): string | null {
  const { salt } = row;
  if (row.approver_hash !== null) return salt === null ? 'has lost the salt of its approver' : null;
  if (row.arguments === null)
    return salt === null || row.arguments_omitted ? null : 'has lost its arguments but not their salt';
  if (salt === null) return 'has lost the salt of its arguments';
  const hash = row.arguments_cut ? row.kept_hash : row.args_hash;
  return argumentsHash(salt, row.arguments) === hash ? null : 'has other arguments than were hashed';
}

const placeOf = ({ uid, caller_id, session_id }: Place): Place => ({ uid, caller_id, session_id });

const unknownPlace = (uid: string) => ({ uid, caller_id: null, session_id: null });

const brokenAt = (row: Place & { seq: number }, problem: string): Broken => ({
  ...placeOf(row),
  seq: row.seq,
  problem,
});
