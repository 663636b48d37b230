/** One run of the verifier over the operator's lists: reads everything, looks again for what may only be late, says what is wrong. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Break } from './breaks.ts';
import type { KeptRun } from './confirmed.ts';
import type { Piece } from './evidence.ts';
import { inParallel } from './in-parallel.ts';
import type { LedgerPage, OperatorView } from './operator-view.ts';
import { rangesOf } from './ranges.ts';
import { Verification } from './verify-chain.ts';

/** Rows travel within five seconds of their making. */
const TRAVEL_MS = 6_000;
/** Pages of heads that are asked for at a time: each asks fifty objects. */
const PARALLEL = 8;
/** Rows since so long before an earlier run are read again: the clocks of objects are not one. */
const OVERLAP_MS = 24 * 60 * 60 * 1000;

export type Given = {
  /** What an earlier run confirmed. */
  earlier?: KeptRun | null;
  evidence?: AsyncIterable<Piece>;
  /** Hears what a person who waits should know. */
  note?: (line: string) => void;
  travelMs?: number;
};

export class VerificationRun {
  readonly verification = new Verification();
  /** How much was read so far. */
  readonly read = { rows: 0, attempts: 0, approvals: 0, heads: 0 };
  readonly #view: OperatorView;
  readonly #given: Given;

  constructor(view: OperatorView, given: Given = {}) {
    [this.#view, this.#given] = [view, given];
  }

  /** Everything that is wrong. Throws where a list cannot be read to its end. */
  async breaks(): Promise<Break[]> {
    const { earlier, evidence } = this.#given;
    if (earlier != null) this.verification.begin(earlier);
    if (evidence !== undefined) for await (const piece of evidence) this.verification.takeEvidence(piece);
    // Rows first, so that every attempt, approval and head that a row tells of exists when it is looked for.
    await this.#readRows();
    await this.#readBooks();
    await this.#readHeads();
    await this.#lookAgain();
    return this.verification.breaks();
  }

  async #readRows(): Promise<void> {
    const { earlier } = this.#given;
    const rows = this.#view.auditRows(earlier == null ? {} : { from: timeOf(earlier.at - OVERLAP_MS) });
    for await (const row of rows) {
      this.read.rows += 1;
      this.verification.takeRow(row);
    }
  }

  async #readBooks(): Promise<void> {
    for await (const page of this.#view.ledger()) this.#takeLedger(page);
    for await (const approval of this.#view.approvals()) {
      this.read.approvals += 1;
      this.verification.takeApproval(approval);
    }
  }

  /** Heads come from the objects, one by one: the only part that is slow, and done side by side. */
  async #readHeads(): Promise<void> {
    const { earlier } = this.#given;
    const opened = earlier == null ? {} : { from: timeOf(Math.max(0, earlier.openedBefore)) };
    const uids = this.verification.confirmed().chains.map(({ uid }) => uid);
    await inParallel(rangesOf(uids, PARALLEL, opened), PARALLEL, async (range) => {
      for await (const head of this.#view.heads(range)) {
        this.read.heads += 1;
        this.verification.takeHead(head);
      }
    });
  }

  async #lookAgain(): Promise<void> {
    const { places, subjects } = this.verification.late();
    if (places.length === 0 && subjects.length === 0) return;
    const { travelMs = TRAVEL_MS, note } = this.#given;
    note?.(
      `${places.length} sessions and ${subjects.length} subjects may be behind; looking again in ${travelMs / 1_000} s …`,
    );
    await sleep(travelMs);
    await inParallel(subjects, PARALLEL, async (subject) => {
      const pages = await allOf(this.#view.ledger(subject));
      this.verification.forgetSubject(subject);
      for (const page of pages) this.#takeLedger(page);
    });
    await inParallel(places, PARALLEL, async (place) => {
      const { uid, caller_id, session_id } = place;
      const approvals = await allOf(this.#view.approvals({ caller_id, session_id }));
      this.verification.forgetApprovals(place);
      for (const approval of approvals) if (approval.uid === uid) this.verification.takeApproval(approval);
      for await (const row of this.#view.auditRows({ caller_id, session_id }))
        if (row.uid === uid) this.verification.takeLateRow(row);
    });
  }

  #takeLedger({ rows, totals }: LedgerPage): void {
    this.read.attempts += rows.length;
    for (const attempt of rows) this.verification.takeAttempt(attempt);
    for (const total of totals) this.verification.takeTotal(total);
  }
}

const timeOf = (ms: number): string => new Date(ms).toISOString();

async function allOf<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
}
