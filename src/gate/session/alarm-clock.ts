/**
 * Arms the object's one alarm, and only where none is due earlier, because setting it is billed as a row written. It is
 * never moved to later for the same reason: a run that finds nothing to do costs a sixth of that row.
 */
import type { Alarm } from './session-ports.ts';

/** The platform may be late; what is overdue for longer it may have given up, and memory would not know. */
const LATE_MS = 10_000;

export class Alarms {
  readonly #alarm: Alarm;
  readonly #now: () => number;
  /** Null: not known to be armed, as after a restart. Setting it again then costs a row and loses nothing. */
  #armedFor: number | null = null;

  constructor(alarm: Alarm, now: () => number) {
    this.#alarm = alarm;
    this.#now = now;
  }

  arm(at: number): void {
    const armed = this.#armedFor;
    if (armed === null || armed > at || armed < this.#now() - LATE_MS) this.#set(Math.min(at, armed ?? at));
  }

  /** The alarm has fired, so nothing is armed. */
  fired(): void {
    this.#armedFor = null;
  }

  /** Arms it where the platform has given it up, of which the object is not told. */
  async revive(at: number): Promise<void> {
    const armed = await this.#alarm.get();
    if (armed === null || armed < this.#now() - LATE_MS) this.#set(Math.min(at, armed ?? at));
  }

  #set(at: number): void {
    this.#armedFor = at;
    this.#alarm.set(at);
  }
}
