/**
 * The verifying itself, without any reading: it is handed rows, then the ledger, the approvals and the heads, and says
 * everything that is wrong. Rows travel within seconds, so what may only be late is named first, and judged after a second look.
 */
import { argumentsHash, chainHash, firstPrevious, type AuditRow } from '../src/gate/ledger/audit-row.ts';
import {
  decisionFaults,
  disagreements,
  effectFaults,
  figureFaults,
  totalFaults,
  type BookedApproval,
  type BookedAttempt,
  type BookedDecision,
  type BookedRow,
  type Disagreement,
  type SubjectTotal,
} from './books.ts';
import type { Break, BreakKind } from './breaks.ts';
import type { Piece } from './evidence.ts';

export type Place = Pick<AuditRow, 'uid' | 'caller_id' | 'session_id'>;
/** The end of a chain by the word of its session object; null where that could not be read. */
export type Head = Place & ({ seq: number; hash: string } | { seq: null; hash: null });

/** How far a chain has been followed. `hash` null: the last row does not say what it is. `at`: of the last row. */
export type Chain = Place & { seq: number; hash: string | null; at: string | null };

/** What an earlier run confirmed. `openedBefore`, ms since the epoch: sessions opened before it are over, and not asked again. */
export type Confirmed = {
  chains: readonly Chain[];
  effects: readonly BookedRow[];
  decisions: readonly BookedDecision[];
  openedBefore: number;
};

/** What may only be late: rows and approvals by session, attempts and totals by subject. */
export type Late = { rows: Place[]; approvals: Place[]; subjects: { backend: string; subject: string }[] };

/** A list that could not be read to its end: what it would be compared with is not judged. */
export type UnreadList = 'ledger' | 'approvals' | 'heads';

export class Verification {
  readonly #chains = new Map<string, Chain>();
  readonly #effects: BookedRow[] = [];
  readonly #decisions: BookedDecision[] = [];
  readonly #broken: Break[] = [];
  /** By subject, and by session: a second look takes them anew. */
  readonly #ledger = new Map<string, { attempts: BookedAttempt[]; totals: SubjectTotal[] }>();
  readonly #approvals = new Map<string, BookedApproval[]>();
  readonly #heads = new Map<string, Head>();
  /** The hash of the row where the object's chain ended when it was asked. */
  readonly #atHead = new Map<string, string>();
  readonly #evidence = new Map<string, Piece>();
  readonly #evidencePlaces = new Map<string, Place>();
  readonly #over = new Set<string>();
  readonly #unread = new Set<UnreadList>();
  #rows = 0;
  #pieces = 0;

  /** Goes on from what an earlier run confirmed. */
  begin({ chains, effects, decisions, openedBefore }: Confirmed): void {
    for (const chain of chains) {
      this.#chains.set(chain.uid, chain);
      if (openedAt(chain.uid) < openedBefore) this.#over.add(chain.uid);
    }
    this.#effects.push(...effects);
    this.#decisions.push(...decisions);
  }

  /** A piece of evidence, before all rows. What an earlier run confirmed is not read again, nor compared. */
  takeEvidence(piece: Piece): void {
    this.#pieces += 1;
    const confirmed = this.#chains.get(piece.uid);
    if (confirmed !== undefined && piece.seq < confirmed.seq) return;
    if (confirmed?.seq === piece.seq) {
      if (confirmed.hash !== piece.hash) this.#broken.push(pieceBreak(piece, ANOTHER));
      return;
    }
    const earlier = this.#evidence.get(pieceName(piece));
    if (earlier !== undefined && earlier.hash !== piece.hash)
      this.#broken.push(pieceBreak(piece, 'has two hashes in the evidence'));
    this.#evidence.set(pieceName(piece), piece);
    const { uid, caller_id, session_id } = piece;
    if (caller_id !== null && session_id !== null) this.#evidencePlaces.set(uid, { uid, caller_id, session_id });
  }

  /** A row of the audit, each session's in the order of `seq`. Rows that were taken before are passed over. */
  takeRow(row: AuditRow): void {
    const chain = this.#chains.get(row.uid) ?? emptyChain(row);
    if (row.seq < 1) return void this.#broken.push(breakAt('changed', row, 'cannot be read'));
    if (row.seq <= chain.seq) return this.#meetsConfirmed(row, chain);
    this.#rows += 1;
    this.#broken.push(...rowBreaks(row, chain));
    const { uid, seq, key, attempt, hash, at } = row;
    if (attempt !== null) this.#effects.push({ uid, seq, key, attempt, result_hash: row.result_hash });
    if (row.approver_hash !== null) this.#decisions.push(row);
    if (this.#heads.get(uid)?.seq === seq) this.#atHead.set(uid, hash);
    this.#chains.set(uid, { ...placeOf(row), seq, hash: isReadable(row) ? hash : null, at });
    this.#compareEvidence(row);
  }

  takeAttempt(attempt: BookedAttempt): void {
    this.#ofSubject(attempt).attempts.push(attempt);
  }

  takeTotal(total: SubjectTotal): void {
    this.#ofSubject(total).totals.push(total);
  }

  takeApproval(approval: BookedApproval): void {
    const list = this.#approvals.get(approval.uid);
    if (list === undefined) this.#approvals.set(approval.uid, [approval]);
    else list.push(approval);
  }

  /** The end of a chain by the word of its session object, after all rows. */
  takeHead(head: Head): void {
    this.#heads.set(head.uid, head);
    const chain = this.#chains.get(head.uid);
    if (chain !== undefined && chain.seq === head.seq && chain.hash !== null) this.#atHead.set(head.uid, chain.hash);
  }

  takeUnread(list: UnreadList, reason: string): void {
    this.#unread.add(list);
    const place = { caller_id: null, session_id: null, uid: null, seq: null };
    this.#broken.push({ kind: 'unreadable', ...place, problem: `the list of ${list} could not be read: ${reason}` });
  }

  /** What to read again before the end, since it may have been on its way. */
  late(): Late {
    const { effect, approval, total } = this.#disagreements();
    const decided = approval.flatMap(({ uid }) => uid ?? []);
    const rows = [
      ...decided,
      ...[...this.#heads.values()].filter((head) => this.#isBehind(head)).map(({ uid }) => uid),
      ...effect.flatMap(({ uid, seq }) => (uid !== null && seq === null ? [uid] : [])),
      ...[...this.#evidence.values()].map(({ uid }) => uid),
    ];
    const places = (uids: string[]): Place[] => [...new Set(uids)].flatMap((uid) => this.#placeOf(uid) ?? []);
    return { rows: places(rows), approvals: places(decided), subjects: total.map(({ subject }) => subject) };
  }

  /** A second look at a session's approvals begins, or at a subject's attempts and totals: what was taken of them is dropped. */
  forgetApprovals({ uid }: Place): void {
    this.#approvals.delete(uid);
  }
  forgetSubject(subject: { backend: string; subject: string }): void {
    this.#ledger.delete(subjectName(subject));
  }

  /** A row of the second look. An effect that the ledger does not have may have been applied after the ledger was read. */
  takeLateRow(row: AuditRow): void {
    const before = this.#effects.length;
    this.takeRow(row);
    if (this.#effects.length > before && !this.#isInLedger(row)) this.#effects.pop();
  }

  /** Everything that is wrong, after the second look. */
  breaks(): Break[] {
    const found: Break[] = [
      ...this.#broken,
      ...[...this.#heads.values()].flatMap((head) => this.#headBreaks(head)),
      ...[...this.#chains.values()]
        .filter(({ uid }) => !this.#unread.has('heads') && !this.#heads.has(uid) && !this.#over.has(uid))
        .map((chain) => breakAt('unknown', { ...chain, seq: null }, 'no session object vouches for this chain')),
      ...Object.entries(this.#disagreements()).flatMap(([kind, list]) =>
        list.map((each) => this.#toBreak(kind as BreakKind, each)),
      ),
      ...this.#missingEvidence(),
    ];
    // A second look meets some of it again.
    return [...new Map(found.map((each) => [JSON.stringify(each), each])).values()];
  }

  /** What this run confirms, where nothing is wrong. */
  confirmed(): Omit<Confirmed, 'openedBefore'> {
    return { chains: [...this.#chains.values()], effects: this.#effects, decisions: this.#decisions };
  }

  get counts() {
    const sessions = new Set([...this.#chains.keys(), ...this.#heads.keys()]).size;
    const [effects, decisions] = [this.#effects.length, this.#decisions.length];
    return { rows: this.#rows, sessions, effects, decisions, pieces: this.#pieces };
  }

  #disagreements() {
    const ledger = [...this.#ledger.values()];
    const attempts = ledger.flatMap((each) => each.attempts);
    const totals = ledger.flatMap((each) => each.totals);
    const decided = { approvals: [...this.#approvals.values()].flat(), rows: this.#decisions };
    const judged = <Found>(lists: UnreadList[], found: () => Found[]): Found[] =>
      lists.some((list) => this.#unread.has(list)) ? [] : found();
    return {
      effect: judged(['ledger'], () => effectFaults(this.#effects, attempts)),
      figures: figureFaults(this.#effects, attempts),
      total: judged(['ledger'], () => totalFaults(attempts, totals)),
      approval: judged(['approvals'], () => decisionFaults(decided, attempts)),
    } satisfies Partial<Record<BreakKind, Disagreement[]>>;
  }

  #ofSubject(named: { backend?: string; subject?: string }) {
    const name = subjectName(named);
    const known = this.#ledger.get(name) ?? { attempts: [], totals: [] };
    this.#ledger.set(name, known);
    return known;
  }

  #isInLedger = ({ key, attempt }: BookedRow): boolean =>
    [...this.#ledger.values()].some(({ attempts }) =>
      attempts.some((each) => each.call_key === key && each.attempt === attempt),
    );

  #placeOf(uid: string): Place | undefined {
    const known = this.#chains.get(uid) ?? this.#heads.get(uid);
    return known === undefined ? this.#evidencePlaces.get(uid) : placeOf(known);
  }

  #meetsConfirmed(row: AuditRow, { seq, hash }: Chain): void {
    if (row.seq === seq && hash !== null && row.hash !== hash)
      this.#broken.push(breakAt('changed', row, 'is another than an earlier look found'));
  }

  #compareEvidence(row: AuditRow): void {
    const piece = this.#evidence.get(pieceName(row));
    if (piece === undefined) return;
    this.#evidence.delete(pieceName(row));
    if (piece.hash !== row.hash) this.#broken.push(breakAt('evidence', row, ANOTHER));
  }

  #isBehind = ({ uid, seq }: Head): boolean => seq !== null && (this.#chains.get(uid)?.seq ?? 0) < seq;

  #headBreaks(head: Head): Break[] {
    const { uid, seq, hash } = head;
    if (seq === null) return [breakAt('unreadable', { ...head, seq: null }, 'its session object could not be read')];
    const last = this.#chains.get(uid)?.seq ?? 0;
    if (last > seq) return [breakAt('unknown', { ...head, seq: seq + 1 }, 'is not known to its session object')];
    if (last < seq) {
      const problem = `${rangeOf(last + 1, seq)} missing: the session object has rows up to ${seq}`;
      return [breakAt('missing', { ...head, seq: null }, problem)];
    }
    const met = this.#atHead.get(uid);
    return met === undefined || met === hash
      ? []
      : [breakAt('unknown', { ...head, seq }, 'is another than its session object has')];
  }

  #missingEvidence(): Break[] {
    const pieces = [...this.#evidence.values()];
    return pieces.map((piece) => {
      const chain = this.#chains.get(piece.uid);
      const found = chain === undefined ? 'is in the evidence, but the audit has no row of this session' : null;
      const place = { ...piece, ...(chain === undefined ? {} : placeOf(chain)) };
      return pieceBreak(place, found ?? `is in the evidence, but not in the audit, which ends at row ${chain?.seq}`);
    });
  }

  #toBreak(kind: BreakKind, { uid, seq, problem }: Disagreement): Break {
    const { caller_id = null, session_id = null } = (uid === null ? undefined : this.#placeOf(uid)) ?? {};
    return { kind, caller_id, session_id, uid, seq, problem };
  }
}

type WholeBooks = Omit<Parameters<typeof disagreements>[0], 'rows'> & { rows: readonly AuditRow[] };

/** All that is wrong with whole chains and the attempts of their sessions, by those who hold them at once. */
export function bookFaults({
  rows,
  ...ledger
}: WholeBooks): { uid: string | null; seq: number | null; problem: string }[] {
  const steps = new Set<string>();
  const chains = new Map<string, Chain>();
  const faults: Break[] = [];
  for (const row of rows) {
    faults.push(...rowBreaks(row, chains.get(row.uid) ?? emptyChain(row)));
    chains.set(row.uid, row);
    const place = `${row.uid} step ${row.step}`;
    if (row.kind === 'call' && steps.has(place))
      faults.push(breakAt('changed', row, 'takes a step that another call took'));
    if (row.kind === 'call') steps.add(place);
  }
  return [...faults, ...disagreements({ rows, ...ledger })];
}

const HASH = /^[0-9a-f]{64}$/;
const isReadable = ({ hash }: AuditRow): boolean => HASH.test(hash);

const ANOTHER = 'is another than the evidence has';

/** What is wrong with a row as the next one of its chain. */
function rowBreaks(row: AuditRow, chain: Chain): Break[] {
  if (!isReadable(row)) return [breakAt('changed', row, 'cannot be read')];
  const found: Break[] = [];
  const [first, last] = [chain.seq + 1, row.seq - 1];
  if (first <= last) found.push(breakAt('missing', { ...row, seq: null }, `${rangeOf(first, last)} missing`));
  if (row.caller_id !== chain.caller_id || row.session_id !== chain.session_id)
    found.push(breakAt('changed', row, 'names another session than the rows before it'));
  else if (first === row.seq && chain.hash !== null && chainHash(chain.hash, row) !== row.hash)
    found.push(breakAt('changed', row, 'was changed, or the row before it'));
  const misfit = argumentsMisfit(row);
  if (misfit !== null) found.push(breakAt('arguments', row, misfit));
  return found;
}

const rangeOf = (first: number, last: number): string =>
  first === last ? `row ${first} is` : `rows ${first} to ${last} are`;

const emptyChain = (place: Place): Chain => ({
  ...placeOf(place),
  seq: 0,
  hash: firstPrevious(place.caller_id, place.session_id, place.uid),
  at: null,
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

/** A uid begins with the time of opening, ms in hex; others count as new. */
const openedAt = (uid: string): number => (/^[0-9a-f]{12}/.test(uid) ? parseInt(uid.slice(0, 12), 16) : Infinity);

const placeOf = ({ uid, caller_id, session_id }: Place): Place => ({ uid, caller_id, session_id });

const subjectName = ({ backend, subject }: { backend?: string; subject?: string }): string => `${backend} ${subject}`;

const pieceName = ({ uid, seq }: { uid: string; seq: number }): string => `${uid} ${seq}`;

const pieceBreak = ({ uid, seq, caller_id, session_id }: Piece, problem: string): Break => ({
  ...{ kind: 'evidence', caller_id, session_id, uid, seq, problem },
});

const breakAt = (kind: BreakKind, place: Place & { seq: number | null }, problem: string): Break => ({
  ...{ kind, ...placeOf(place), seq: place.seq, problem },
});
