/** The one alarm of a simulated object, as the platform keeps it: late, twice, dropped, and tried again after a failure. */
import type { Random } from './random.ts';
import type { Faults } from './scenario.ts';
import type { Timer, VirtualTime } from './virtual-time.ts';

/** An alarm that fails is tried this often, with 2 s, 4 s, … between, and then dropped. */
const TRIES = 7;

export type Alarmed = {
  time: VirtualTime;
  faults: Faults;
  random: Random;
  label: string;
  note(what: string): void;
  /** Whether writes are on their way to the disk; they may move the alarm. */
  isWriting(): boolean;
  /** What was set is spent. */
  fires(): void;
  run(): Promise<unknown>;
  /** It failed too often in a row, and the platform drops it. */
  givesUp(): void;
};

export class SimulatedAlarm {
  readonly #object: Alarmed;
  #at: number | null = null;
  #timer: Timer | null = null;
  #runs = false;
  #triesAgain = false;

  constructor(object: Alarmed) {
    this.#object = object;
    object.time.onJump(() => this.#schedule());
  }

  /** Ms since the epoch, durable; null where none is set. */
  get at(): number | null {
    return this.#at;
  }

  get isOwed(): boolean {
    return this.#runs || this.#triesAgain;
  }

  /** What was set last is durable now. */
  keep(at: number | null): void {
    this.#at = at;
    this.#schedule();
  }

  #schedule(): void {
    const { time, faults, random } = this.#object;
    if (this.#runs || (this.#at === null && this.#triesAgain)) return;
    time.cancel(this.#timer);
    this.#triesAgain = false;
    if (this.#at === null) return;
    const late = random.chance(faults.alarmLate) ? random.skewed(100, 300_000) : random.skewed(1, 50);
    this.#timer = time.after(this.#at - time.wall() + late, () => void this.#fire(1));
  }

  async #fire(tried: number): Promise<void> {
    const { time, faults, random, label, note, isWriting, fires } = this.#object;
    if (isWriting()) return void (this.#timer = time.after(20, () => void this.#fire(tried)));
    if (tried === 1) {
      fires();
      this.#at = null;
    }
    if (random.chance(faults.alarmDropped)) return note(`${label}: its alarm is dropped`);
    note(`${label}: alarm`);
    [this.#runs, this.#triesAgain] = [true, false];
    let left = random.chance(faults.alarmDoubled) ? 2 : 1;
    while (left > 0) left = (await this.#ends()) ? left - 1 : -1;
    this.#runs = false;
    const hasFailed = left < 0 && this.#at === null;
    this.#triesAgain = hasFailed && tried < TRIES;
    if (hasFailed && !this.#triesAgain) this.#object.givesUp();
    if (this.#triesAgain) this.#timer = time.after(2_000 * 2 ** (tried - 1), () => void this.#fire(tried + 1));
    else this.#schedule();
  }

  async #ends(): Promise<boolean> {
    try {
      await this.#object.run();
      return true;
    } catch {
      return false;
    }
  }
}
