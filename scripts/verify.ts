/** One run of the verifier over the operator's lists: reads everything, looks again for what may only be late, says what is wrong. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Break } from './breaks.ts';
import type { KeptRun } from './confirmed.ts';
import type { Piece } from './evidence.ts';
import { inParallel } from './in-parallel.ts';
import type { LedgerPage, OperatorView } from './operator-view.ts';
import { rangesOf } from './ranges.ts';
import { Verification, type UnreadList } from './verify-chain.ts';

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
    const since = (run: KeptRun) => ({ from: timeOf(run.at - OVERLAP_MS), opened_from: timeOf(run.openedBefore) });
    const rows = this.#view.auditRows(earlier == null ? {} : since(earlier));
    for await (const row of rows) {
      this.read.rows += 1;
      this.verification.takeRow(row);
    }
  }

  async #readBooks(): Promise<void> {
    await this.#reading('ledger', async () => {
      for await (const page of this.#view.ledger()) this.#takeLedger(page);
    });
    await this.#reading('approvals', async () => {
      for await (const approval of this.#view.approvals()) {
        this.read.approvals += 1;
        this.verification.takeApproval(approval);
      }
    });
  }

  /** Of a list that cannot be read one line says so; the others are judged. */
  async #reading(list: UnreadList, read: () => Promise<void>): Promise<void> {
    try {
      await read();
    } catch (error) {
      this.verification.takeUnread(list, error instanceof Error ? error.message : String(error));
    }
  }

  /** Heads come from the objects, one by one: the only part that is slow, and done side by side. */
  async #readHeads(): Promise<void> {
    const { earlier } = this.#given;
    const opened = earlier == null ? {} : { from: timeOf(earlier.openedBefore) };
    const uids = this.verification.confirmed().chains.map(({ uid }) => uid);
    await this.#reading('heads', () =>
      inParallel(rangesOf(uids, PARALLEL, opened), PARALLEL, async (range) => {
        for await (const head of this.#view.heads(range)) {
          this.read.heads += 1;
          this.verification.takeHead(head);
        }
      }),
    );
  }

  async #lookAgain(): Promise<void> {
    const { rows, approvals, subjects } = this.verification.late();
    if (rows.length === 0 && subjects.length === 0) return;
    const { travelMs = TRAVEL_MS, note } = this.#given;
    note?.(
      `${rows.length} sessions and ${subjects.length} subjects may be behind; looking again in ${travelMs / 1_000} s …`,
    );
    await sleep(travelMs);
    await inParallel(subjects, PARALLEL, async (subject) => {
      const pages = await allOf(this.#view.ledger(subject));
      this.verification.forgetSubject(subject);
      for (const page of pages) this.#takeLedger(page);
    });
    await inParallel(approvals, PARALLEL, async (place) => {
      const { uid, caller_id, session_id } = place;
      const list = await allOf(this.#view.approvals({ caller_id, session_id }));
      this.verification.forgetApprovals(place);
      for (const approval of list) if (approval.uid === uid) this.verification.takeApproval(approval);
    });
    await inParallel(rows, PARALLEL, async ({ uid }) => {
      for await (const row of this.#view.auditRows({ uid })) this.verification.takeLateRow(row);
    });
  }

  #takeLedger({ rows, totals }: LedgerPage): void {
    this.read.attempts += rows.length;
    for (const attempt of rows) this.verification.takeAttempt(attempt);
    for (const total of totals) this.verification.takeTotal(total);
  }
}

const timeOf = (ms: number): string => new Date(Math.max(0, ms)).toISOString();

async function allOf<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
}
