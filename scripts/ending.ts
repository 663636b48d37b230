/**
 * How a script learns that it is to end. Import it first: it notes who started the script. package.json starts such scripts by
 * `exec`, or a shell would stand between them and npm and outlive it.
 */

const PARENT_CHECK_MS = 500;

const parent = process.ppid;

/**
 * Calls `end` once: at a signal, when nobody reads the output any more (`| head`), or when the parent is gone, because npm dies
 * of a signal without passing it on.
 */
export function onEnding(end: () => void): void {
  let isEnding = false;
  const endOnce = (): void => {
    if (isEnding) return;
    isEnding = true;
    end();
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, endOnce);
  for (const output of [process.stdout, process.stderr]) output.on('error', endOnce);
  setInterval(() => {
    if (process.ppid !== parent) endOnce();
  }, PARENT_CHECK_MS).unref();
}
