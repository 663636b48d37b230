/** The limits a backend's work runs under (docs/specification.md#stage-8-execute). */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { deadlineOf } from '../../../src/gate/pipeline/deadline.ts';
import { UpstreamError } from '../../../src/gate/ports.ts';
import { upstreamWith } from '../../../src/gate/session/upstream.ts';

const TRY_MS = 2_000;

beforeEach(() => void vi.useFakeTimers({ now: 0 }));
afterEach(() => void vi.useRealTimers());

const upstream = upstreamWith(() => Date.now());
const silent = () => new Promise<never>(() => undefined);

/** What the work came to, and when. */
function watch(running: Promise<unknown>) {
  const seen: { ended: string | null; at: number } = { ended: null, at: -1 };
  const end = (ended: string): void => void Object.assign(seen, { ended, at: Date.now() });
  void running.then(
    () => end('done'),
    (error: Error) => end(error.name),
  );
  return seen;
}

describe('upstreamWith', () => {
  it('leaves a silent try after its limit, its signal aborted, and tries no more', async () => {
    const signals: AbortSignal[] = [];
    const work = (signal: AbortSignal) => (signals.push(signal), silent());
    const seen = watch(upstream.run(work, { tryMs: TRY_MS, deadline: deadlineOf({ started_at: 0 }) }));
    await vi.advanceTimersByTimeAsync(TRY_MS - 1);
    expect([seen.ended, signals[0]?.aborted]).toEqual([null, false]);
    await vi.advanceTimersByTimeAsync(20_000);
    expect(seen).toEqual({ ended: 'UpstreamTimeout', at: TRY_MS });
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
  });

  it('gives no try more than is left of the 20 seconds of its call', async () => {
    const seen = watch(upstream.run(silent, { tryMs: 60_000, deadline: deadlineOf({ started_at: 0 }) }));
    await vi.advanceTimersByTimeAsync(60_000);
    expect(seen).toEqual({ ended: 'UpstreamTimeout', at: 20_000 });
  });

  it('tries a transient failure three times, 200 and then 400 ms apart', async () => {
    const tries: number[] = [];
    const work = (): Promise<never> => (tries.push(Date.now()), Promise.reject(new UpstreamError('lost', true)));
    const seen = watch(upstream.run(work, { tryMs: TRY_MS, deadline: deadlineOf({ started_at: 0 }) }));
    await vi.advanceTimersByTimeAsync(20_000);
    expect(tries).toEqual([0, 200, 600]);
    expect(seen.ended).toBe('UpstreamError');
  });

  it('sets no timer but its limit for a first try that succeeds', async () => {
    const timers = vi.spyOn(globalThis, 'setTimeout');
    await upstream.run(async () => 'done', { tryMs: TRY_MS, deadline: 20_000 });
    expect(timers).toHaveBeenCalledTimes(1);
    timers.mockRestore();
  });

  it('tries no failure again that is not transient, nor one past its deadline', async () => {
    for (const [transient, deadline] of [
      [false, 20_000],
      [true, 100],
    ] as const) {
      let tries = 0;
      const work = (): Promise<never> => ((tries += 1), Promise.reject(new UpstreamError('lost', transient)));
      const seen = watch(upstream.run(work, { tryMs: TRY_MS, deadline: Date.now() + deadline }));
      await vi.advanceTimersByTimeAsync(20_000);
      expect({ tries, ended: seen.ended !== null }).toEqual({ tries: 1, ended: true });
    }
  });
});
