/** Every decision of a simulated world comes from streams of this kind, so that one seed is one story. */

/** A small generator (sfc32), seeded by a name: streams of other names are independent of this one. */
export class Random {
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;

  constructor(name: string) {
    let [a, b, c] = [0x9e3779b9, 0x243f6a88, 0xb7e15162];
    for (let i = 0; i < name.length; i += 1) {
      const unit = name.charCodeAt(i);
      a = Math.imul(a ^ unit, 0x85ebca6b) ^ (a >>> 13);
      b = Math.imul(b ^ unit, 0xc2b2ae35) ^ (b >>> 16);
      c = Math.imul(c ^ unit, 0x27d4eb2f) ^ (c >>> 15);
    }
    [this.#a, this.#b, this.#c] = [a | 0, b | 0, c | 0];
    for (let i = 0; i < 12; i += 1) this.#next();
  }

  #next(): number {
    const sum = (((this.#a + this.#b) | 0) + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = ((this.#c << 21) | (this.#c >>> 11)) + sum;
    return sum >>> 0;
  }

  /** In [0, 1). */
  unit = (): number => this.#next() / 2 ** 32;

  chance = (probability: number): boolean => probability > 0 && this.unit() < probability;

  /** Both ends included. */
  int = (from: number, to: number): number => from + Math.floor(this.unit() * (to - from + 1));

  pick<T>(items: readonly T[]): T {
    const item = items[this.int(0, items.length - 1)];
    if (item === undefined) throw new Error('nothing to pick from');
    return item;
  }

  /** Mostly near `from`, seldom near `to`: how latencies are. */
  skewed = (from: number, to: number): number => from + (to - from) * this.unit() ** 4;

  bytes(length: number): Uint8Array {
    const bytes = new Uint8Array(length);
    for (let i = 0; i < length; i += 1) bytes[i] = this.#next() & 0xff;
    return bytes;
  }

  hex = (bytes: number): string => Array.from(this.bytes(bytes), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
