/**
 * The thread that kills: the one that makes the load comes to things when the Worker has nothing left to do, and would always
 * kill an idle one. It waits, and then, if it is given a file, for the next write to it.
 */
import { statSync } from 'node:fs';
import { workerData } from 'node:worker_threads';
import * as z from 'zod';

/** `atWriteTo`: a file, or null to wait for no write. */
const killOrder = z.object({ pid: z.int(), afterMs: z.int(), atWriteTo: z.string().nullable() });

/** Nothing may be written any more; then any moment will do. */
const WRITE_LIMIT_MS = 2_000;

const { pid, afterMs, atWriteTo } = killOrder.parse(workerData);
Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, afterMs);
if (atWriteTo !== null) {
  const written = (): bigint => statSync(atWriteTo, { bigint: true }).mtimeNs;
  const before = written();
  const deadline = Date.now() + WRITE_LIMIT_MS;
  while (written() === before && Date.now() < deadline);
}
process.kill(pid, 'SIGKILL');
