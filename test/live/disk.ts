/** What the session objects had on disk when the Worker died: read from copies, so that the state is not touched. */
import { copyFileSync, existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import * as z from 'zod';

const OBJECTS = 'v3/do/toolgate-Session';

const openRecord = z.object({
  uid: z.string(),
  key: z.string(),
  attempt: z.int(),
  state: z.enum(['pending', 'approved', 'claimed']),
  /** The last row of its session's log. */
  head: z.int(),
});

/** An effect that was not settled; all but the pending ones may have been sent. */
export type OpenRecord = z.output<typeof openRecord>;

/** The open records of all objects that wrote since `since` (ms since the epoch). */
export function openRecordsOnDisk(folder: string, since: number): OpenRecord[] {
  const objects = join(folder, OBJECTS);
  const copies = mkdtempSync(join(tmpdir(), 'toolgate-disk-'));
  try {
    return readdirSync(objects)
      .filter((name) => /^[0-9a-f]{64}\.sqlite$/.test(name) && lastWrite(join(objects, name)) >= since)
      .flatMap((name) => openRecordsIn(copyOf(objects, name, copies)));
  } finally {
    rmSync(copies, { recursive: true });
  }
}

const lastWrite = (file: string): number =>
  Math.max(...[file, `${file}-wal`].filter(existsSync).map((each) => statSync(each).mtimeMs));

/** The write-ahead log goes with it: after a kill most of what is durable is there. */
function copyOf(from: string, name: string, to: string): string {
  for (const part of [name, `${name}-wal`])
    if (existsSync(join(from, part))) copyFileSync(join(from, part), join(to, part));
  return join(to, name);
}

function openRecordsIn(file: string): OpenRecord[] {
  const database = new DatabaseSync(file);
  try {
    const hasTables = database.prepare("SELECT 1 FROM sqlite_master WHERE name = 'record'").get() !== undefined;
    if (!hasTables) return [];
    const rows = database
      .prepare(
        `SELECT session.uid, key, attempt, state, (SELECT coalesce(max(seq), 0) FROM log) AS head
         FROM record, session WHERE state IN ('pending', 'approved', 'claimed')`,
      )
      .all();
    return z.array(openRecord).parse(rows);
  } finally {
    database.close();
  }
}
