/** What happened, as one running hash: two runs of a seed with the same hash were the same run. The lines are kept on demand. */
export class Trace {
  #high = 0x9e3779b9;
  #low = 0x243f6a88;
  readonly lines: string[] | null;

  constructor(keepLines: boolean) {
    this.lines = keepLines ? [] : null;
  }

  note(elapsed: number, what: string): void {
    const text = `${elapsed.toFixed(3)} ${what}`;
    for (let i = 0; i < text.length; i += 1) {
      const unit = text.charCodeAt(i);
      this.#high = Math.imul(this.#high ^ unit, 2_654_435_761);
      this.#low = Math.imul(this.#low ^ unit, 1_597_334_677);
      this.#high ^= this.#low >>> 16;
    }
    this.lines?.push(`${(elapsed / 1000).toFixed(3).padStart(10)}  ${what}`);
  }

  get hash(): string {
    return [this.#high, this.#low].map((half) => (half >>> 0).toString(16).padStart(8, '0')).join('');
  }
}
