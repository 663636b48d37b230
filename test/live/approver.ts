/** The person who gets the mails: opens the links and decides, at moments and in ways that come from a seed. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../simulation/random.ts';
import type { Call } from './agent.ts';
import { Unanswered, type Gate } from './gate.ts';

/** People take their time, and nothing here is in a hurry. */
const MAX_PAUSE_MS = 500;
const MAX_AT_ONCE = 6;
export const DECIDED = 303;

export type Asked = {
  readonly id: string;
  readonly call: Call;
  readonly wanted: 'approve' | 'reject';
  link: string | null;
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
      this.asked.set(approval.id, { id: approval.id, call, wanted, link: null, status: 'pending', answers: [] });
    }
  }

  /** The local mailbox is empty after a restart. */
  forgetMails(): void {
    this.#seen = new Set();
  }

  undecided = (): Asked[] =>
    [...this.asked.values()].filter(({ status, answers }) => status === 'pending' && !answers.includes(DECIDED));

  /** Reads mails and decides until the Worker is gone. */
  async runUntilDeath(): Promise<void> {
    try {
      for (;;) {
        await this.readMails();
        const ready = this.undecided().filter(({ link }) => link !== null);
        await Promise.all(ready.slice(0, this.#random.int(1, MAX_AT_ONCE)).map((asked) => this.decide(asked)));
        await sleep(this.#random.int(0, MAX_PAUSE_MS));
      }
    } catch (error) {
      if (!(error instanceof Unanswered)) throw error;
    }
  }

  async readMails(): Promise<void> {
    const unread = (await this.#gate.mails()).filter(({ id }) => !this.#seen.has(id));
    await Promise.all(
      unread.map(async ({ id, subject }) => {
        const asked = [...this.asked.values()].find((each) => subject.includes(each.id));
        // A mail may be faster than the answer that tells of its approval.
        if (asked === undefined) return;
        this.#seen.add(id);
        asked.link = await this.#gate.linkInMail(id);
      }),
    );
  }

  async decide(asked: Asked): Promise<void> {
    if (asked.link === null) return;
    const { arguments: args } = asked.call;
    const cents = 'amount_cents' in args ? args.amount_cents : 0;
    asked.answers.push(null);
    const status = await this.#gate.decide(asked.link, asked.wanted, (cents / 100).toFixed(2));
    asked.answers[asked.answers.length - 1] = status;
  }
}
