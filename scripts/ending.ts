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
export function onEnding(end: (reason: string) => void): void {
  let isEnding = false;
  const endOnce = (reason: string): void => {
    if (isEnding) return;
    isEnding = true;
    end(reason);
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => endOnce(`by ${signal}`));
  for (const output of [process.stdout, process.stderr]) output.on('error', () => endOnce('nobody reads its output'));
  setInterval(() => {
    if (process.ppid !== parent) endOnce('who started it is gone');
  }, PARENT_CHECK_MS).unref();
}
