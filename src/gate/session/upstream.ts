/** Runs a backend's work under its limits. D1 takes no abort signal, so a try that hangs is left behind, not stopped. */
import pRetry from 'p-retry';
import type { Upstream } from '../ports.ts';
import { UpstreamError, UpstreamTimeout } from '../ports.ts';

const RETRIES = 2;
const BACKOFF_MS = 200;

export function upstreamWith(now: () => number): Upstream {
  return {
    run(work, { tryMs, deadline, once = false }) {
      const attempt = () => underLimit(work, Math.min(tryMs, deadline - now()));
      // With no time left after the pause, the backend's own failure is the truer answer.
      const isWorthRetrying = (error: unknown, tries: number): error is UpstreamError =>
        !once && error instanceof UpstreamError && error.transient && now() + BACKOFF_MS * tries < deadline;
      // The first try goes without the retry library, whose timers would cost every call.
      return attempt().catch((error: unknown) => {
        if (!isWorthRetrying(error, 1)) throw error;
        // The library counts the failed try as its first. Its pauses are 200 and 400 ms: for two retries doubling is 200 ms x try.
        return pRetry((tries) => (tries === 1 ? Promise.reject(error) : attempt()), {
          retries: RETRIES,
          minTimeout: BACKOFF_MS,
          factor: 2,
          shouldRetry: (failure) => isWorthRetrying(failure.error, failure.attemptNumber),
        });
      });
    },
  };
}

async function underLimit<T>(work: (signal: AbortSignal) => Promise<T>, ms: number): Promise<T> {
  if (ms <= 0) throw new UpstreamTimeout('no time left');
  const stop = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const limit = new Promise<never>((_, fail) => {
    timer = setTimeout(() => {
      stop.abort();
      fail(new UpstreamTimeout('no answer in time'));
    }, ms);
  });
  try {
    return await Promise.race([work(stop.signal), limit]);
  } finally {
    clearTimeout(timer);
  }
}
