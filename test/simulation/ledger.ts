/**
 * The ledger of a simulated world, in the shape of D1: the product's statements on `node:sqlite`, behind a network that
 * delays, loses, repeats and breaks. What was sent lands whether or not its sender still lives.
 */
import type { SqlRow, SqlValue, Statement } from '../../src/gate/ports.ts';
import { auditMigrations, migrations } from '../support/migrations.ts';
import type { Random } from './random.ts';
import type { Faults } from './scenario.ts';
import { Database } from './sqlite.ts';
import type { VirtualTime } from './virtual-time.ts';

const LOST = 'D1_ERROR: Network connection lost.';
/** D1's own limit ends what nobody answers. */
const SLOW = 'D1_ERROR: D1 DB storage operation exceeded timeout which caused object to be reset.';
const OVERLOADED = 'D1_ERROR: D1 DB is overloaded. Requests queued for too long.';

/** Tells the model of what was written, whichever statement wrote it. */
const WITNESSES = [
  `CREATE TEMP TRIGGER see_attempt AFTER INSERT ON main.attempts BEGIN
     SELECT seen_attempt(NEW.effect_key, NEW.call_key, NEW.attempt, NEW.uid, NEW.applied, NEW.code, NEW.subject, NEW.amount_cents, NEW.currency, NEW.details); END`,
  `CREATE TEMP TRIGGER see_order AFTER UPDATE ON main.orders BEGIN
     SELECT seen_order(NEW.order_id, NEW.total_cents, NULL); END`,
  `CREATE TEMP TRIGGER see_first_total AFTER INSERT ON main.subject_totals BEGIN
     SELECT seen_order(NEW.subject, NULL, NEW.applied_cents); END`,
  `CREATE TEMP TRIGGER see_total AFTER UPDATE ON main.subject_totals BEGIN
     SELECT seen_order(NEW.subject, NULL, NEW.applied_cents); END`,
  `CREATE TEMP TRIGGER see_caller AFTER UPDATE ON main.callers BEGIN
     SELECT seen_caller(NEW.caller_id, NEW.version, NEW.policy, NEW.revoked_at); END`,
];

let kept: Database | null = null;
/** Made once a process; registering functions anew would undo all prepared statements. */
function database(): Database {
  if (kept !== null) return kept;
  kept = new Database((exec) => {
    for (const sql of migrations()) exec(sql);
  });
  for (const name of ['attempt', 'order', 'caller'] as const)
    kept.onWrite(`seen_${name}`, (...values) => witnessed?.[name](...values));
  for (const trigger of WITNESSES) kept.all(trigger);
  return kept;
}
let witnessed: LedgerWitness | null = null;

let keptAudit: Database | null = null;
const auditDatabase = (): Database =>
  (keptAudit ??= new Database((exec) => {
    for (const sql of auditMigrations()) exec(sql);
  }));

export type LedgerWitness = Record<'attempt' | 'order' | 'caller' | 'undone', (...values: SqlValue[]) => void>;

/** Where a query comes from. `leave` resolves when the sender's own writes are durable, and never if it dies before. */
export type Sender = {
  random: Random;
  leave(): Promise<void>;
  isGone(): boolean;
  crash(): void;
  cut(): 'before' | 'after' | null;
};

export class Ledger {
  readonly database = database();
  /** The audit's, behind the same network. */
  readonly audit = auditDatabase();
  readonly #time: VirtualTime;
  readonly #faults: Faults;
  readonly #note: (what: string) => void;

  constructor(time: VirtualTime, faults: Faults, witness: LedgerWitness, note: (what: string) => void) {
    [this.#time, this.#faults, this.#note] = [time, faults, note];
    witnessed = witness;
    for (const each of [this.database, this.audit]) each.mark('world');
  }

  /** Resolves while an object's n-th look at an order is under way. */
  looked(n: number): Promise<void> {
    return new Promise((resolve) => this.#watchers.set(n, [...(this.#watchers.get(n) ?? []), resolve]));
  }
  readonly #watchers = new Map<number, (() => void)[]>();
  #looks = 0;

  end(): void {
    for (const each of [this.database, this.audit]) each.undo('world');
  }

  /** The binding as one sender holds it. */
  binding(sender: Sender, database = this.database): D1Database {
    const prepare = (sql: string, params: SqlValue[] = []) => ({
      sql,
      params,
      bind: (...bound: SqlValue[]) => prepare(sql, bound),
      all: async () => ({ results: (await this.#travel([{ sql, params }], false, sender, database))[0] ?? [] }),
    });
    const batch = async (statements: Statement[]) =>
      (await this.#travel(statements, true, sender, database)).map((results) => ({ results }));
    return { prepare, batch } as unknown as D1Database;
  }

  async #travel(statements: Statement[], writes: boolean, sender: Sender, database: Database): Promise<SqlRow[][]> {
    await sender.leave();
    const { random } = sender;
    const faults = this.#faults;
    const name = labelOf(statements);
    const answer = Promise.withResolvers<SqlRow[][]>();
    const fail = (message: string, ms: number): void =>
      void this.#time.after(ms, () => this.#reply(sender, () => answer.reject(new Error(message))));
    const cut = sender.cut();
    if (cut === 'before' || random.chance(faults.failBefore)) {
      this.#note(`ledger: ${name} fails before it arrives`);
      fail(cut !== null || random.chance(0.8) ? LOST : OVERLOADED, random.skewed(1, 3_000));
      return answer.promise;
    }
    const lost = cut === 'after' || (writes && random.chance(faults.lostAnswer));
    const silent = random.chance(faults.silent);
    const late = writes && random.chance(faults.lateWrite);
    const doubled = writes && random.chance(faults.duplicateWrite);
    const crash = random.chance(faults.crashAtSend);
    const crashLater = random.chance(faults.crashAtAnswer);
    const watchers = name === 'read orders' ? (this.#watchers.get((this.#looks += 1)) ?? []) : [];
    for (const watcher of watchers) watcher();
    const arrival = late
      ? random.skewed(1_000, 600_000)
      : watchers.length > 0
        ? 1_000 + 900 * random.unit()
        : random.chance(faults.slow)
          ? 1_900 * random.unit()
          : random.skewed(1, 60);
    if (late) fail(LOST, random.skewed(1, 2_500));
    this.#time.after(arrival, () => {
      this.#note(`ledger: ${name}${lost || late ? ', answer lost' : ''}${silent ? ', no answer' : ''}`);
      const landed = this.#land(statements, database);
      if (doubled)
        this.#time.after(
          random.skewed(1, 400_000),
          () => (this.#note(`ledger: ${name} once more`), this.#land(statements, database)),
        );
      if (silent) return fail(SLOW, random.skewed(20_000, 90_000));
      if (late) return;
      if (lost) return fail(LOST, random.skewed(1, 500));
      this.#time.after(random.skewed(1, 60), () => {
        if (crashLater && !sender.isGone()) sender.crash();
        this.#reply(sender, () => (landed instanceof Error ? answer.reject(landed) : answer.resolve(landed)));
      });
    });
    if (crash) sender.crash();
    return answer.promise;
  }

  /** A dead sender hears nothing: nothing of it may run on. */
  #reply(sender: Sender, tell: () => void): void {
    if (!sender.isGone()) tell();
  }

  #land(statements: Statement[], database: Database): SqlRow[][] | Error {
    try {
      return database.within('batch', () => statements.map(({ sql, params }) => database.all(sql, params)));
    } catch (error) {
      // What was seen of a batch that failed as a whole did not happen.
      witnessed?.undone(
        ...this.database.all('SELECT effect_key FROM attempts').map((row) => row['effect_key'] ?? null),
      );
      return new Error(`D1_ERROR: ${error instanceof Error ? error.message : String(error)}: SQLITE_ERROR`);
    }
  }
}

const labels = new Map<string, string>();
function labelOf(statements: Statement[]): string {
  const sql = statements[0]?.sql ?? '';
  const known = labels.get(sql);
  if (known !== undefined) return known;
  const label = /(?:INSERT INTO|UPDATE|DELETE FROM) \w+/.exec(sql)?.[0] ?? `read ${/FROM (\w+)/.exec(sql)?.[1] ?? ''}`;
  labels.set(sql, label);
  return label;
}
