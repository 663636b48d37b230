/** One Worker of its own for a run, and what remains of it afterwards: nothing, or the state of a run that failed. */
import { onEnding } from '../../scripts/ending.ts';
import { stopAll } from '../../scripts/guarded.ts';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BuiltWorker, type WorkerOptions } from './built-worker.ts';

/** Plays and ends the process; whatever `play` throws fails the run. */
export async function onStage(
  name: string,
  play: (worker: BuiltWorker) => Promise<void>,
  beside: (folder: string) => Promise<WorkerOptions[]> = async () => [],
  variables: Record<string, string> = {},
): Promise<never> {
  const folder = mkdtempSync(join(tmpdir(), `toolgate-${name}-`));
  const clear = (): void => rmSync(folder, { recursive: true, force: true });
  // workerd ends with this process, by its guard.
  onEnding((reason) => {
    console.error(`Ended before its end: ${reason}.`);
    clear();
    process.exit(130);
  });
  try {
    const worker = await BuiltWorker.make(folder, await beside(folder), variables);
    await play(worker);
    await worker.stop();
    clear();
    return process.exit(0);
  } catch (error) {
    console.error(error);
    console.error(`The state is kept in ${folder}.`);
    await stopAll();
    return process.exit(1);
  }
}
