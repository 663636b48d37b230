/**
 * The least that a gate can do: one token checked, one object asked, and the rows, trips and outbox that the cost table names
 * for each kind of call (docs/storage.md). No stage, no audit chain, no limits. `npm run bench` measures the gate against it.
 */
import { DurableObject } from 'cloudflare:workers';
import { jwtVerify } from 'jose';

type Kind = 'refused' | 'replay' | 'read' | 'effect';
type Bindings = { DB: D1Database; FLOOR: DurableObjectNamespace<Floor>; SECRET: string };

const TRAVEL_MS = 4_000;
const ROW = JSON.stringify({
  tool: 'get_order',
  code: 'OK',
  arguments: '{"order_id":"ORD-1001"}',
  hash: 'a'.repeat(64),
});

export class Floor extends DurableObject<Bindings> {
  readonly #sql = this.ctx.storage.sql;
  #armed = false;

  constructor(ctx: DurableObjectState, env: Bindings) {
    super(ctx, env);
    this.#sql.exec('CREATE TABLE IF NOT EXISTS log (seq INTEGER PRIMARY KEY, row TEXT NOT NULL)');
    this.#sql.exec('CREATE TABLE IF NOT EXISTS record (key TEXT PRIMARY KEY, state TEXT NOT NULL) WITHOUT ROWID');
    this.#sql.exec('CREATE TABLE IF NOT EXISTS session (id INTEGER PRIMARY KEY, sent INTEGER NOT NULL)');
  }

  async call(kind: Kind, key: string): Promise<object> {
    if (kind === 'read' || kind === 'effect') await this.#order();
    if (kind === 'effect') {
      this.#sql.exec("INSERT OR REPLACE INTO record VALUES (?, 'claimed')", key);
      await this.#arm();
      await this.env.DB.batch([
        this.env.DB.prepare('INSERT INTO floor_attempts VALUES (?, ?) ON CONFLICT DO NOTHING').bind(key, ROW),
        this.env.DB.prepare('UPDATE floor_totals SET cents = cents + 1 WHERE id = 1'),
        this.env.DB.prepare('SELECT row FROM floor_attempts WHERE key = ?').bind(key),
      ]);
    }
    this.ctx.storage.transactionSync(() => {
      if (kind === 'effect') this.#sql.exec("UPDATE record SET state = 'executed' WHERE key = ?", key);
      this.#sql.exec('INSERT INTO log (row) VALUES (?)', ROW);
    });
    await this.#arm();
    return { ok: true, code: kind };
  }

  override async alarm(): Promise<void> {
    this.#armed = false;
    const [sent] = this.#sql.exec<{ sent: number }>('SELECT sent FROM session').toArray();
    const rows = this.#sql.exec('SELECT seq, row FROM log WHERE seq > ? LIMIT 100', sent?.sent ?? 0).toArray();
    if (rows.length === 0) return;
    const text =
      'INSERT INTO floor_audit SELECT ?1, value ->> 1, value ->> 2 FROM json_each(?2) WHERE true ON CONFLICT DO NOTHING';
    const uid = this.ctx.id.toString();
    await this.env.DB.prepare(text)
      .bind(uid, JSON.stringify(rows.map(({ seq, row }) => [uid, seq, row])))
      .run();
    this.#sql.exec('INSERT OR REPLACE INTO session VALUES (1, ?)', rows.at(-1)?.['seq'] ?? 0);
    if (rows.length === 100) await this.#arm();
  }

  #order = (): Promise<unknown> =>
    this.env.DB.prepare('SELECT * FROM orders WHERE order_id = ?').bind('ORD-1001').all();

  async #arm(): Promise<void> {
    if (this.#armed) return;
    this.#armed = true;
    await this.ctx.storage.setAlarm(Date.now() + TRAVEL_MS);
  }
}

const TABLES = [
  'CREATE TABLE IF NOT EXISTS orders (order_id TEXT PRIMARY KEY, total INTEGER) WITHOUT ROWID',
  'CREATE TABLE IF NOT EXISTS floor_attempts (key TEXT PRIMARY KEY, row TEXT NOT NULL) WITHOUT ROWID',
  'CREATE TABLE IF NOT EXISTS floor_totals (id INTEGER PRIMARY KEY, cents INTEGER NOT NULL)',
  'CREATE TABLE IF NOT EXISTS floor_audit (uid TEXT, seq INTEGER, row TEXT, PRIMARY KEY (uid, seq)) WITHOUT ROWID',
  "INSERT INTO orders VALUES ('ORD-1001', 1) ON CONFLICT DO NOTHING",
  'INSERT INTO floor_totals VALUES (1, 0) ON CONFLICT DO NOTHING',
];
let made: Promise<unknown> | null = null;

export default {
  async fetch(request, env) {
    await (made ??= env.DB.batch(TABLES.map((sql) => env.DB.prepare(sql))));
    const token = (request.headers.get('authorization') ?? '').slice('Bearer '.length);
    const { payload } = await jwtVerify(token, new TextEncoder().encode(env.SECRET), { algorithms: ['HS256'] });
    const { kind, key } = await request.json<{ kind: Kind; key: string }>();
    return Response.json(await env.FLOOR.getByName(String(payload['session'])).call(kind, key));
  },
} satisfies ExportedHandler<Bindings>;
