import { runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';

/** `session`: rows written. `alarms`: times the alarm was set, each of which is billed as a row written. */
export type Metered = { session: number; read: number; transactions: number; alarms: number };

/** Counts the rows that the object's database writes and reads from now on, as its cursors tell, its transactions and alarms. */
export async function meterSession(object: string): Promise<() => Metered> {
  const cursors: SqlStorageCursor<Record<string, SqlStorageValue>>[] = [];
  let [transactions, alarms] = [0, 0];
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
    const set = storage.setAlarm.bind(storage);
    storage.setAlarm = (...given) => {
      alarms += 1;
      return set(...given);
    };
  });
  return () => ({
    session: cursors.reduce((rows, { rowsWritten }) => rows + rowsWritten, 0),
    read: cursors.reduce((rows, { rowsRead }) => rows + rowsRead, 0),
    transactions,
    alarms,
  });
}
