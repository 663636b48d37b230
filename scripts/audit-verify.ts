/**
 * `npm run audit:verify -- URL`: recomputes every chain of the audit, compares its end with what the session objects say, and
 * every effect with the ledger. Names the first thing that is broken. Needs ADMIN_TOKEN in the environment; for a Worker on this
 * machine, that of .dev.vars will do.
 */
import { join } from 'node:path';
import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseEnv } from 'node:util';
import { OperatorView } from './operator-view.ts';
import { Verification, type Broken } from './verify-chain.ts';

/** Rows travel within five seconds of their making. */
const TRAVEL_MS = 6_000;
const PROGRESS_ITEMS = 10_000;

const url = process.argv[2] ?? '';
const isHere = URL.canParse(url) && ['localhost', '127.0.0.1', '[::1]'].includes(new URL(url).hostname);
// The local token is never sent to another Worker, which needs a token of its own.
const adminToken = process.env['ADMIN_TOKEN'] ?? (isHere ? keptAdminToken() : undefined);
if (process.argv.length !== 3 || !URL.canParse(url) || adminToken === undefined) {
  console.error('usage: ADMIN_TOKEN=… npm run audit:verify -- URL');
  process.exit(2);
}

const view = new OperatorView(new URL(url), adminToken);
const verification = new Verification();
let read = 0;
try {
  const broken = await firstBroken();
  if (broken === null) {
    const { rows, sessions, effects } = verification.counts;
    console.log(
      `The audit is whole: ${counted(rows, 'row')} of ${counted(sessions, 'session')}, ${counted(effects, 'effect')}, each in the ledger.`,
    );
  } else {
    console.error(sentence(broken));
    process.exitCode = 1;
  }
} catch (error) {
  // Neither whole nor broken: the audit could not be read to its end.
  console.error(`Not verified: ${reasonOf(error)}`);
  process.exitCode = 2;
}

/** Rows are read first, so that every attempt and head that a row tells of exists when it is looked for. */
async function firstBroken(): Promise<Broken | null> {
  return (
    (await first(view.auditRows(), (row) => verification.takeRow(row))) ??
    (await first(view.attempts(), (attempt) => (verification.takeAttempt(attempt), null))) ??
    (await first(view.heads(), (head) => verification.takeHead(head))) ??
    verification.endHeads() ??
    (await lookAgain())
  );
}

async function lookAgain(): Promise<Broken | null> {
  const late = verification.late();
  if (late.length === 0) return verification.end();
  console.error(
    `${counted(late.length, 'session')} may have rows on their way; looking again in ${TRAVEL_MS / 1_000} s …`,
  );
  await sleep(TRAVEL_MS);
  for (const { uid, caller_id, session_id } of late) {
    const rowsOfSession = view.auditRows({ caller_id, session_id });
    const found = await first(rowsOfSession, (row) => (row.uid === uid ? verification.takeLateRow(row) : null));
    if (found !== null) return found;
  }
  return verification.end();
}

async function first<Item>(items: AsyncIterable<Item>, take: (item: Item) => Broken | null): Promise<Broken | null> {
  for await (const item of items) {
    read += 1;
    if (read % PROGRESS_ITEMS === 0) console.error(`${read} rows, attempts and heads read …`);
    const broken = take(item);
    if (broken !== null) return broken;
  }
  return null;
}

function sentence({ caller_id, session_id, uid, seq, problem }: Broken): string {
  const session = `session ${session_id ?? '(unknown)'} of caller ${caller_id ?? '(unknown)'}, uid ${uid}`;
  return seq === null ? `Broken: ${session}: ${problem}.` : `Broken: ${session}: row ${seq} ${problem}.`;
}

/** A refused answer says so itself; of a failed connection the cause says more. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}

/** Of the Worker that `npm run dev` serves. */
function keptAdminToken(): string | undefined {
  const file = join(import.meta.dirname, '../.dev.vars');
  return existsSync(file) ? parseEnv(readFileSync(file, 'utf8'))['ADMIN_TOKEN'] : undefined;
}

function counted(count: number, name: string): string {
  return `${count} ${name}${count === 1 ? '' : 's'}`;
}
