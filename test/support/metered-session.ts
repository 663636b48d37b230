import { runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';

/** `session`: rows written. */
export type Metered = { session: number; read: number; transactions: number };

/** Counts the rows that the object's database writes and reads from now on, as its cursors tell, and its transactions. */
export async function meterSession(object: string): Promise<() => Metered> {
  const cursors: SqlStorageCursor<Record<string, SqlStorageValue>>[] = [];
  let transactions = 0;
  await runInDurableObject(env.SESSION.getByName(object), (_, { storage }) => {
    const { sql } = storage;
    const [exec, transact] = [sql.exec.bind(sql), storage.transactionSync.bind(storage)];
    sql.exec = <Row extends Record<string, SqlStorageValue>>(text: string, ...params: unknown[]) => {
      const cursor = exec<Row>(text, ...params);
      cursors.push(cursor);
      return cursor;
    };
    storage.transactionSync = (run) => {
      transactions += 1;
      return transact(run);
    };
  });
  return () => ({
    session: cursors.reduce((rows, { rowsWritten }) => rows + rowsWritten, 0),
    read: cursors.reduce((rows, { rowsRead }) => rows + rowsRead, 0),
    transactions,
  });
}
