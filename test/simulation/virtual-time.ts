/**
 * Time as the simulation has it: a heap of events. Between two events all promise continuations run, so a port that
 * answers through an event is the only way anything waits, and the order of events is the whole schedule.
 */

/** Monday, so that nothing depends on the machine's own date. Ms since the epoch. */
const BEGINNING = Date.UTC(2027, 0, 4, 9);

export type Timer = { at: number; order: number; run: (() => void) | null };

/** More events than any healthy seed has: something answers itself for ever. */
const MAX_EVENTS = 400_000;

export class VirtualTime {
  /** Ms since the beginning, as a clock that nobody sets shows them. */
  elapsed = 0;
  events = 0;
  /** What the wall clock is ahead of that. */
  #skew = 0;
  #order = 0;
  readonly #heap: Timer[] = [];
  readonly #onJump: (() => void)[] = [];

  /** Ms since the epoch, as everybody's clock says. */
  wall = (): number => BEGINNING + Math.floor(this.elapsed) + this.#skew;

  /** Sets everybody's clock forward, or back by a little. */
  jump(ms: number): void {
    this.#skew += ms;
    for (const told of this.#onJump) told();
  }

  onJump(told: () => void): void {
    this.#onJump.push(told);
  }

  after(ms: number, run: () => void): Timer {
    const timer = { at: this.elapsed + Math.max(0, ms), order: (this.#order += 1), run };
    this.#push(timer);
    return timer;
  }

  cancel(timer: Timer | null): void {
    if (timer !== null) timer.run = null;
  }

  sleep = (ms: number): Promise<void> => new Promise((resolve) => this.after(ms, resolve));

  /** Runs all events up to that time. Rejects with what an event threw. */
  runUntil(elapsed: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const turn = (): void => {
        const timer = this.#popUntil(elapsed);
        if (timer === null) {
          this.elapsed = Math.max(this.elapsed, elapsed);
          return resolve();
        }
        this.elapsed = timer.at;
        this.events += 1;
        try {
          if (this.events > MAX_EVENTS) throw new Error('this world never comes to rest');
          timer.run?.();
        } catch (error) {
          return reject(error instanceof Error ? error : new Error(String(error)));
        }
        // The microtask comes after all continuations there are, the tick after all that those made.
        queueMicrotask(() => process.nextTick(turn));
      };
      turn();
    });
  }

  #popUntil(elapsed: number): Timer | null {
    for (;;) {
      const top = this.#heap[0];
      if (top === undefined || top.at > elapsed) return null;
      this.#pop();
      if (top.run !== null) return top;
    }
  }

  #push(timer: Timer): void {
    const heap = this.#heap;
    let place = heap.length;
    heap.push(timer);
    while (place > 0) {
      const parent = (place - 1) >> 1;
      const above = heap[parent];
      if (above === undefined || !isBefore(timer, above)) break;
      heap[place] = above;
      place = parent;
    }
    heap[place] = timer;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let place = 0;
    for (;;) {
      let child = place * 2 + 1;
      let below = heap[child];
      const right = heap[child + 1];
      if (below !== undefined && right !== undefined && isBefore(right, below)) {
        child += 1;
        below = right;
      }
      if (below === undefined || !isBefore(below, last)) break;
      heap[place] = below;
      place = child;
    }
    heap[place] = last;
  }
}

const isBefore = (a: Timer, b: Timer): boolean => a.at < b.at || (a.at === b.at && a.order < b.order);
