import type { JsonObject } from '../../src/gate/json.ts';
import type { LedgerSql, SqlRow, SqlValue } from '../../src/gate/ports.ts';
import { noBackends } from './backends.ts';
import type { Ran, Tool } from '../../src/gate/tool/define-tool.ts';

/** A database that answers every read with these rows and takes no write. */
const answering = (read: (sql: string, params: SqlValue[]) => SqlRow[]): LedgerSql => ({
  all: async (sql, ...params) => read(sql, params),
  batch: () => Promise.reject(new Error('a read tool wrote')),
});

/** Runs a read tool as stage 8 would, for a session of `customer`, over what `read` answers. */
export async function readWith(
  tool: Tool,
  args: JsonObject,
  read: (sql: string, params: SqlValue[]) => SqlRow[] = untouched,
  customer: string | null = 'CUS-1',
): Promise<Ran> {
  const valid = tool.bind(args);
  if (!valid.ok) throw new Error(`the arguments do not fit: ${JSON.stringify(valid.problems)}`);
  if (valid.bound.effect !== 'none') throw new Error('no read tool');
  const kit = { ledger: answering(read), backends: noBackends, now: () => 0 };
  return valid.bound.run(kit, { customer_id: customer, signal: new AbortController().signal });
}

const untouched = (sql: string): never => {
  throw new Error(`the tool asked: ${sql}`);
};

/** The fields whose values a tool's schema refuses. */
export function refusedFields(tool: Tool, args: JsonObject): string[] {
  const bound = tool.bind(args);
  return bound.ok ? [] : bound.problems.map(({ field }) => field);
}
