/**
 * Tells the model afterwards what a real object and the real ledger hold, since nothing can watch their writes as they
 * happen: each applied attempt where the row stands that reports it. Other stories may have written to the same ledger.
 */
import type { SqlRow, SqlValue } from '../../src/gate/ports.ts';
import type { Held, Watched } from './facts.ts';
import type { Model } from './model.ts';
import { checkIntent } from './rules-effects.ts';
import { heldOf, RECORD_COLUMNS } from './rules-records.ts';

/** What an object's own tables hold in the end. */
export type ObjectEnd = { name: string; session: SqlRow[]; log: SqlRow[]; record: SqlRow[] };

/** One request to an object, whether or not its answer came. */
export type Asked = { object: string; method: string; args: unknown[] };

/** One request that was answered by an object, in the order of the answers. */
export type Answered = Asked & { answer: unknown };

export type Heard = { asked: Asked[]; answers: Answered[] };

export function recount(model: Model, objects: ObjectEnd[], attempts: SqlRow[], { asked, answers }: Heard): void {
  model.isRecounted = true;
  const watched = new Map(objects.map((object) => [object.name, tellSession(model, object)]));
  const own = attempts.filter(
    ({ uid, subject }) => model.sessions.has(String(uid)) || model.orders.has(String(subject)),
  );
  const waiting = new Map(own.map((row) => [`${String(row['call_key'])} ${Number(row['attempt'])}`, row]));
  const tell = (name: string): void => {
    const row = waiting.get(name);
    if (row !== undefined) tellAttempt(model, row);
    waiting.delete(name);
  };
  for (const [name, row] of waiting) if (row['applied'] !== 1) tell(name);
  for (const { method, args } of asked) model.objects.arrives(method, args);
  for (const session of model.sessions.values())
    session.endAsked = asked.some(({ object, method }) => method === 'end' && object === session.object.name);
  for (const { name, log } of objects) {
    const object = watched.get(name);
    for (const { seq, key, attempt, row } of object === undefined ? [] : log) {
      if (attempt !== null) tell(`${String(key)} ${Number(attempt)}`);
      if (object !== undefined) model.objects.log(object, Number(seq), String(row));
    }
  }
  // No row reported these; the end of the story finds them out.
  for (const name of waiting.keys()) tell(name);
  for (const { object, method, args, answer } of answers) {
    const there = watched.get(object);
    if (there !== undefined) model.objects.answered(there, method, args, answer);
  }
}

function tellSession(model: Model, { name, session, log, record }: ObjectEnd): Watched | undefined {
  const [row] = session;
  if (row === undefined) return undefined;
  const hashes = new Map(log.map(({ seq, hash }) => [seq, hash]));
  // The one thing that the rules ask of a database.
  const all = (_sql: string, [seq]: readonly SqlValue[] = []): SqlRow[] => [{ hash: hashes.get(seq ?? null) ?? null }];
  const object: Watched = { name, database: { all } };
  model.objects.session(object, row['uid'] ?? null, row['caller_id'] ?? null, row['session_id'] ?? null);
  const facts = model.sessions.get(String(row['uid']));
  for (const each of facts === undefined ? [] : record) {
    const values = RECORD_COLUMNS.map((column) => each[column] ?? null);
    const held: Held | undefined = facts && heldOf(facts, values, 0);
    if (held !== undefined) facts?.records.set(`${held.key} ${held.round}`, held);
  }
  return object;
}

const ATTEMPT = [
  ...['effect_key', 'call_key', 'attempt', 'uid', 'applied', 'code', 'subject', 'amount_cents', 'currency', 'details'],
];

function tellAttempt(model: Model, row: SqlRow): void {
  const { remaining_refundable_cents } = JSON.parse(String(row['answer'])) as Record<string, number>;
  const told = model.addAttempt(
    ATTEMPT.map((column) => row[column] ?? null),
    remaining_refundable_cents ?? 0,
  );
  if (!told.applied) return;
  const records = [...(model.sessions.get(told.uid)?.records.values() ?? [])];
  const held = records.find(
    ({ key, attempt, state }) => key === told.call_key && attempt === told.attempt && state === 'executed',
  );
  if (held === undefined) model.fail('effect-without-record', told.intent);
  else checkIntent(model, told, held);
}
