/** Watches how much memory workerd holds. */
import type { BuiltWorker } from './built-worker.ts';

const SAMPLE_MS = 250;
/** Samples that make one figure: a single one may fall before or after a collection. */
const LATELY = 8;

export class Memory {
  readonly #samples: number[] = [];
  readonly #timer: NodeJS.Timeout;

  constructor(worker: BuiltWorker) {
    this.#samples.push(worker.residentBytes());
    this.#timer = setInterval(() => this.#samples.push(worker.residentBytes()), SAMPLE_MS);
  }

  /** The median of the last two seconds, in bytes. */
  lately(): number {
    const last = this.#samples.slice(-LATELY).toSorted((one, other) => one - other);
    return last[Math.floor(last.length / 2)] ?? 0;
  }

  /** Stops watching, and says what was seen. */
  end(): string {
    clearInterval(this.#timer);
    const shown = (bytes: number): string => `${(bytes / 1024 / 1024).toFixed(0)} MiB`;
    const tenths = Array.from({ length: 11 }, (_, tenth) =>
      shown(this.#samples[Math.floor((tenth / 10) * (this.#samples.length - 1))] ?? 0),
    );
    return `memory: ${tenths.join(', ')} at each tenth of the time; at most ${shown(Math.max(...this.#samples))}`;
  }
}
