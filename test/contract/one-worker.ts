/** Starts the Worker that all files share which need none of their own, with an order for each file that moves money. */
import { globSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import type { TestProject } from 'vitest/node';
import { prepareDatabase } from '../../scripts/local-database.ts';
import { startWorker } from '../../scripts/local-worker.ts';
import { freshWorker, ORDERS } from './client.ts';

declare module 'vitest' {
  interface ProvidedContext {
    worker: { url: string; adminToken: string };
  }
}

export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const { worker, stop } = await freshWorker(async (options) => {
    await prepareDatabase(options.persistTo);
    addOrders(options.persistTo);
    return startWorker(options);
  });
  project.provide('worker', { url: worker.url, adminToken: worker.adminToken });
  return stop;
}

/** Written to the file, before the Worker opens it: a command of wrangler takes seconds. */
function addOrders(folder: string): void {
  const databases = globSync(`${folder}/v3/d1/*/*.sqlite`).map((file) => new DatabaseSync(file));
  const database = databases.find(hasOrders);
  if (database === undefined) throw new Error('no database has the table of orders');
  const insert = database.prepare(
    "INSERT INTO orders (order_id, customer_id, total_cents, currency) VALUES (?, 'CUS-1', 12000, 'BRL')",
  );
  for (const order of Object.values(ORDERS)) insert.run(order);
  for (const each of databases) each.close();
}

/** Which file is which database's only its tables tell. */
const hasOrders = (database: DatabaseSync): boolean =>
  database.prepare("SELECT 1 FROM sqlite_master WHERE name = 'orders'").all().length > 0;
