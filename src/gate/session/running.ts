/**
 * What runs in this object now: memory only, so that a claim left by a crash is recognised by being absent here. Per key,
 * calls, decisions and the alarm exclude one another.
 */
import type { Settled } from '../pipeline/gate.ts';

export class Running {
  readonly #keys = new Map<string, Promise<void>>();
  readonly #calls = new Map<string, { fingerprint: string; settled: Promise<Settled> }>();
  /** Calls of a key that were counted but have no row yet. */
  readonly #counted = new Map<string, number>();

  has = (key: string): boolean => this.#keys.has(key);

  async whenFree(key: string): Promise<void> {
    await this.#keys.get(key);
  }

  occupy(key: string): () => void {
    if (this.#keys.has(key)) throw new Error('a key was taken that somebody holds');
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#keys.set(key, promise);
    return () => {
      this.#keys.delete(key);
      resolve();
    };
  }

  call = (callId: string): { fingerprint: string; settled: Promise<Settled> } | undefined => this.#calls.get(callId);

  /** Keeps a call joinable while it runs. The first of an id owns it: a second one under the same id is another call. */
  async track(callId: string, fingerprint: string, settled: Promise<Settled>): Promise<Settled> {
    if (this.#calls.has(callId)) return settled;
    this.#calls.set(callId, { fingerprint, settled });
    try {
      return await settled;
    } finally {
      this.#calls.delete(callId);
    }
  }

  /** Counts one more call of a key; the number of those without a row, this one included. */
  count(key: string): number {
    const counted = (this.#counted.get(key) ?? 0) + 1;
    this.#counted.set(key, counted);
    return counted;
  }

  /** The call has its row now, where it is counted from here on. */
  logged(key: string): void {
    const left = (this.#counted.get(key) ?? 0) - 1;
    if (left > 0) this.#counted.set(key, left);
    else this.#counted.delete(key);
  }
}
