/** What the people of a story act on: the simulated world, or the product itself in workerd. */
import type { Config } from '../../src/gate/env.ts';
import type { SqlRow, SqlValue } from '../../src/gate/ports.ts';
import type { SessionRpc } from '../../src/gate/session/rpc.ts';

export interface Stage {
  readonly seed: number;
  /** Through the product's Hono app, or by the same steps without HTTP. */
  readonly http: boolean;
  readonly config: Config;
  readonly time: { readonly elapsed: number; wall(): number; sleep(ms: number): Promise<void> };
  /** A fresh stub. */
  session(object: string): SessionRpc;
  fetch(path: string, init: RequestInit): Promise<Response>;
  /** A hand on the ledger itself, as the shop has it. */
  ledgerRows(sql: string, ...params: SqlValue[]): Promise<SqlRow[]>;
  /** Resolves while an object's n-th look at an order is under way. */
  looked(n: number): Promise<void>;
  note(what: string): void;
}
