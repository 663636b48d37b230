/** Runs a backend's work under its limits. D1 takes no abort signal, so a try that hangs is left behind, not stopped. */
import pRetry from 'p-retry';
import type { Upstream } from '../ports.ts';
import { UpstreamError, UpstreamTimeout } from '../ports.ts';

const RETRIES = 2;
const BACKOFF_MS = 200;

export function upstreamWith(now: () => number): Upstream {
  return {
    run: (work, { tryMs, deadline }) =>
      pRetry(() => underLimit(work, Math.min(tryMs, deadline - now())), {
        retries: RETRIES,
        // 200 ms x try, as the specification has it: p-retry's own back-off is exponential.
        minTimeout: 0,
        factor: 1,
        shouldRetry: ({ error }) => error instanceof UpstreamError && error.transient && now() < deadline,
        onFailedAttempt: ({ attemptNumber, retriesLeft, error }) =>
          retriesLeft > 0 && error instanceof UpstreamError && error.transient
            ? pause(BACKOFF_MS * attemptNumber)
            : undefined,
      }),
  };
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

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
