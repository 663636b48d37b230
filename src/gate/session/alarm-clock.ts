/** Arms the object's one alarm, and only where none is due earlier: setting one is billed as a row written. */
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
    if (armed === null || armed > at || armed < this.#now() - LATE_MS) this.renew(at);
  }

  /** The alarm has fired: whatever was armed is spent. */
  fired(): void {
    this.#armedFor = null;
  }

  /** Sets it anew, because the platform may have given it up; never later than it stood. */
  renew(at: number): void {
    this.#armedFor = Math.min(at, this.#armedFor ?? at);
    this.#alarm.set(this.#armedFor);
  }

  /** Moves it to when work is due next, or disarms it; what was armed while the alarm ran must be in `at` already. */
  rearm(at: number | null): void {
    if (at === this.#armedFor) return;
    if (at === null) this.#alarm.clear();
    else this.#alarm.set(at);
    this.#armedFor = at;
  }
}
