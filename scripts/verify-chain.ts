/**
 * The verifying itself, without any reading: it is handed rows, attempts and heads, in this order, and says what is wrong.
 * Rows travel within seconds, so what is missing at first is kept as late and judged after a second look.
 */
import { argumentsHash, chainHash, firstPrevious, type AuditRow } from '../src/gate/ledger/audit-row.ts';

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
export type LedgerAttempt = { call_key: string; attempt: number; uid: string; applied: boolean };

/** How far a chain has been followed: the head that its rows so far add up to. */
type Chain = Head;
type EffectRow = Place & { seq: number };

export class Verification {
  readonly #chains = new Map<string, Chain>();
  /** Rows that say an attempt was applied, by call key and attempt. */
  readonly #effects = new Map<string, EffectRow>();
  /** Those of them that no attempt of the ledger has confirmed yet. */
  readonly #unconfirmed = new Set<string>();
  /** What the ledger has applied, by call key and attempt. */
  readonly #applied = new Set<string>();
  readonly #lateAttempts = new Map<string, LedgerAttempt>();
  readonly #lateHeads = new Map<string, Head>();
  readonly #headless = new Map<string, Place>();
  readonly #places = new Map<string, Place>();

  /** A row of the audit, each session's in the order of `seq`. */
  takeRow(row: AuditRow): Broken | null {
    const broken = this.#follow(row);
    if (broken !== null || row.attempt === null) return broken;
    this.#unconfirmed.add(effectName(row.key, row.attempt));
    return null;
  }

  /** An attempt of the ledger, after all rows: whatever row they tell of was there before. */
  takeAttempt(attempt: LedgerAttempt): Broken | null {
    const name = effectName(attempt.call_key, attempt.attempt);
    const row = this.#effects.get(name);
    if (attempt.applied && this.#applied.has(name)) return this.#twice(attempt);
    if (attempt.applied) this.#applied.add(name);
    if (attempt.applied && row === undefined) this.#lateAttempts.set(name, attempt);
    if (row === undefined) return null;
    if (!attempt.applied) return brokenAt(row, 'tells of an effect, but the ledger says that its attempt is void');
    if (attempt.uid !== row.uid) return brokenAt(row, 'tells of an effect that another session had');
    this.#unconfirmed.delete(name);
    return null;
  }

  /** Says which row tells of an effect that the ledger does not have, after all attempts. */
  endLedger(): Broken | null {
    const [name] = this.#unconfirmed;
    const row = name === undefined ? undefined : this.#effects.get(name);
    return row === undefined ? null : brokenAt(row, 'tells of an effect that the ledger does not have');
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
    const uids = [...this.#lateHeads.keys(), ...[...this.#lateAttempts.values()].map(({ uid }) => uid)];
    return [...new Set(uids)].flatMap((uid) => this.#places.get(uid) ?? []);
  }

  /** A row of the second look; rows seen before are passed over. */
  takeLateRow(row: AuditRow): Broken | null {
    if (row.seq <= (this.#chains.get(row.uid)?.seq ?? 0)) return null;
    const broken = this.#follow(row);
    if (broken !== null) return broken;
    if (row.attempt !== null) this.#lateAttempts.delete(effectName(row.key, row.attempt));
    const head = this.#lateHeads.get(row.uid);
    if (head?.seq !== row.seq) return null;
    this.#lateHeads.delete(row.uid);
    return this.#meets(head, row);
  }

  /** Says what is missing, after the second look. */
  endLate(): Broken | null {
    const [head] = this.#lateHeads.values();
    if (head !== undefined) {
      const seq = (this.#chains.get(head.uid)?.seq ?? 0) + 1;
      return brokenAt(
        { ...head, seq },
        `is missing: the session object has rows up to ${head.seq}; after an outage of D1 they may take five minutes to travel`,
      );
    }
    const [attempt] = this.#lateAttempts.values();
    if (attempt === undefined) return null;
    const { uid, call_key } = attempt;
    const place = this.#places.get(uid) ?? unknownPlace(uid);
    const problem = `no row tells of the effect that the ledger has: call key ${call_key}, attempt ${attempt.attempt}`;
    return { ...place, seq: null, problem };
  }

  get counts(): { rows: number; sessions: number; effects: number } {
    const rows = [...this.#chains.values()].reduce((sum, { seq }) => sum + seq, 0);
    return { rows, sessions: this.#chains.size, effects: this.#effects.size };
  }

  /** Checks a row against the one before it and goes on from it. */
  #follow(row: AuditRow): Broken | null {
    const chain = this.#chains.get(row.uid) ?? emptyChain(row);
    if (row.caller_id !== chain.caller_id || row.session_id !== chain.session_id)
      return brokenAt(row, 'names another session than the rows before it');
    if (row.seq !== chain.seq + 1) return brokenAt({ ...row, seq: chain.seq + 1 }, 'is missing');
    if (chainHash(chain.hash, row) !== row.hash) return brokenAt(row, 'was changed, or the row before it');
    const misfit = argumentsMisfit(row);
    if (misfit !== null) return brokenAt(row, misfit);
    if (row.attempt !== null) {
      const name = effectName(row.key, row.attempt);
      if (this.#effects.has(name)) return brokenAt(row, 'tells of an effect that another row tells of');
      this.#effects.set(name, { ...placeOf(row), seq: row.seq });
    }
    if (chain.seq === 0) this.#headless.set(row.uid, placeOf(row));
    this.#chains.set(row.uid, { ...placeOf(row), seq: row.seq, hash: row.hash });
    return null;
  }

  #twice({ uid, call_key, attempt }: LedgerAttempt): Broken {
    const row = this.#effects.get(effectName(call_key, attempt));
    const problem = `the ledger has two effects of one attempt: call key ${call_key}, attempt ${attempt}`;
    return { ...(row === undefined ? unknownPlace(uid) : placeOf(row)), seq: null, problem };
  }

  #meets(head: Head, { seq, hash }: Pick<Chain, 'seq' | 'hash'>): Broken | null {
    return hash === head.hash ? null : brokenAt({ ...head, seq }, 'is another than its session object has');
  }
}

const effectName = (key: string | null, attempt: number): string => `${key} ${attempt}`;

const emptyChain = (place: Place): Chain => ({
  ...placeOf(place),
  seq: 0,
  hash: firstPrevious(place.caller_id, place.session_id, place.uid),
});

/** Erased and withheld arguments have no salt either: with it alone they could be guessed. */
function argumentsMisfit(row: AuditRow): string | null {
  if (row.arguments === null) return row.salt === null ? null : 'has lost its arguments but not their salt';
  if (row.salt === null) return 'has lost the salt of its arguments';
  return argumentsHash(row.salt, row.arguments) === row.args_hash ? null : 'has other arguments than were hashed';
}

const placeOf = ({ uid, caller_id, session_id }: Place): Place => ({ uid, caller_id, session_id });

const unknownPlace = (uid: string) => ({ uid, caller_id: null, session_id: null });

const brokenAt = (row: Place & { seq: number }, problem: string): Broken => ({
  ...placeOf(row),
  seq: row.seq,
  problem,
});
