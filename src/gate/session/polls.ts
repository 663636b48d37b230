/** Hosts waiting for a decision. Memory only: a poll that is lost is asked again. */

const MAX_WAITS = 4;
const POLLS_A_MINUTE = 60;
const MINUTE_MS = 60_000;

export class Polls {
  readonly #waits = new Set<{ approvalId: string; stop: AbortController }>();
  #recent: number[] = [];

  /** Counts a poll; false where this minute has had its share. */
  admit(now: number): boolean {
    this.#recent = this.#recent.filter((at) => at > now - MINUTE_MS);
    if (this.#recent.length >= POLLS_A_MINUTE) return false;
    this.#recent.push(now);
    return true;
  }

  /** Resolves when the approval changes, when `sleep` does, or when a later wait takes this one's place. */
  async wait(approvalId: string, sleep: (stop: AbortSignal) => Promise<void>): Promise<void> {
    const wait = { approvalId, stop: new AbortController() };
    this.#waits.add(wait);
    const [oldest] = this.#waits;
    // A wait is billed by wall time, so a session may not hold many.
    if (this.#waits.size > MAX_WAITS && oldest !== undefined) this.#end(oldest);
    try {
      await sleep(wait.stop.signal);
    } finally {
      this.#waits.delete(wait);
    }
  }

  wake(approvalId: string): void {
    for (const wait of this.#waits) if (wait.approvalId === approvalId) this.#end(wait);
  }

  #end(wait: { approvalId: string; stop: AbortController }): void {
    this.#waits.delete(wait);
    wait.stop.abort();
  }
}
