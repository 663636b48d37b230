/** What the session's code needs of the platform. The object wires the real ones; the simulation brings its own. */
import type { Config } from '../env.ts';
import type { Backends, LedgerSql, SessionSql, Upstream } from '../ports.ts';
import type { Registry } from '../tool/registry.ts';
import type { QueueMessage } from './rpc.ts';

/** The object's one alarm; times in ms since the epoch. Set within the same synchronous step as the write it belongs to. */
export interface Alarm {
  set(at: number): void;
  /** When it is due; null where none is armed, and while it runs. */
  get(): Promise<number | null>;
}

export interface SessionPorts {
  sql: SessionSql;
  ledger: LedgerSql;
  /** The database of the audit. */
  audit: LedgerSql;
  backends: Backends;
  alarm: Alarm;
  queue: { send(messages: QueueMessage[]): Promise<void> };
  upstream: Upstream;
  tools: Registry;
  config: Config;
  /** Milliseconds since the epoch. */
  now: () => number;
  /** That many random bytes in hex. */
  random: (bytes: number) => string;
  /** Resolves after that many milliseconds, or when `stop` is aborted. */
  sleep: (ms: number, stop: AbortSignal) => Promise<void>;
  /** One JSON line: ids, codes and durations, never arguments, addresses, notes, tokens or URLs. */
  log: (entry: Record<string, unknown>) => void;
}
