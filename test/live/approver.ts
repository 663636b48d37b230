/** The person who gets the mails: opens the links and decides, at moments and in ways that come from a seed. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../simulation/random.ts';
import type { Call } from './agent.ts';
import { Unanswered, type Gate } from './gate.ts';

/** People take their time, and nothing here is in a hurry. */
const MAX_PAUSE_MS = 400;
const MAX_AT_ONCE = 4;
export const DECIDED = 303;

export type Asked = {
  readonly id: string;
  readonly call: Call;
  readonly wanted: 'approve' | 'reject';
  link: string | null;
  /** What the page showed as refunded when it was last looked at; null: never. */
  shown: string | null;
  /** As the gate last told. */
  status: string;
  /** Statuses of the decisions that were answered; null for one that was not. */
  readonly answers: (number | null)[];
};

export class Approver {
  readonly asked = new Map<string, Asked>();
  readonly #gate: Gate;
  readonly #random: Random;
  #seen = new Set<string>();

  constructor(gate: Gate, random: Random) {
    this.#gate = gate;
    this.#random = random;
  }

  /** Learns of an approval that a call was told of. */
  hear(call: Call): void {
    for (const { approval } of call.told) {
      if (approval === undefined || this.asked.has(approval.id)) continue;
      const wanted = this.#random.chance(0.75) ? 'approve' : 'reject';
      this.asked.set(approval.id, {
        id: approval.id,
        call,
        wanted,
        link: null,
        shown: null,
        status: 'pending',
        answers: [],
      });
    }
  }

  /** The local mailbox is empty after a restart. */
  forgetMails(): void {
    this.#seen = new Set();
  }

  undecided = (): Asked[] => [...this.asked.values()].filter(isUndecided);

  /** Sends the forms of pages that were opened before, some at once, until the Worker is `gone`. */
  async runUntil(gone: Promise<void>): Promise<void> {
    const over = new AbortController();
    void gone.then(() => over.abort());
    while (!over.signal.aborted) {
      const open = this.undecided().filter(({ shown }) => shown !== null);
      const decided = open.slice(0, this.#random.int(1, MAX_AT_ONCE)).map((asked) => this.decide(asked));
      for (const each of await Promise.allSettled(decided))
        if (each.status === 'rejected' && !(each.reason instanceof Unanswered)) throw each.reason;
      await sleep(this.#random.int(0, MAX_PAUSE_MS));
    }
  }

  /** Reads what mails came and opens their links. */
  async openMails(): Promise<void> {
    await this.#readMails();
    await Promise.all(
      this.undecided().map(async (asked) => {
        if (asked.link !== null) asked.shown = await this.#gate.shownOnPage(asked.link);
      }),
    );
  }

  async #readMails(): Promise<void> {
    const unread = (await this.#gate.mails()).filter(({ id }) => !this.#seen.has(id));
    await Promise.all(
      unread.map(async ({ id, subject }) => {
        const asked = [...this.asked.values()].find((each) => subject.includes(each.id));
        // A mail may be faster than the answer that tells of its approval.
        if (asked === undefined) return;
        const link = await this.#gate.linkInMail(id);
        if (link === null) return;
        this.#seen.add(id);
        asked.link = link;
      }),
    );
  }

  async decide(asked: Asked): Promise<void> {
    const { link, shown, wanted, answers } = asked;
    if (link === null || shown === null) return;
    const { arguments: args } = asked.call;
    const cents = 'amount_cents' in args ? args.amount_cents : 0;
    const place = answers.push(null) - 1;
    const form = { decision: wanted, phrase: (cents / 100).toFixed(2), shown };
    answers[place] = await this.#gate.decide(link, form);
  }
}

export const isUndecided = ({ status, answers }: Asked): boolean => status === 'pending' && !answers.includes(DECIDED);
