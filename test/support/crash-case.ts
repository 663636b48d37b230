/** One field of the crash matrix: a fault at one await of one request, what comes after it, and what must be so in the end. */
import { env } from 'cloudflare:workers';
import { runInDurableObject } from 'cloudflare:test';
import { expect } from 'vitest';
import type { Session } from './session-class.ts';
import { FAULTS, watch, type FaultName } from './awaits.ts';
import type { Begun, Told } from './begun.ts';
import { callTypes, type CallType } from './call-types.ts';
import type { AuditRow } from '../../src/gate/ledger/audit-row.ts';
import type { BookedAttempt, SubjectTotal } from '../../scripts/books.ts';
import { bookFaults } from '../../scripts/verify-chain.ts';
import { attemptsOf } from './effects.ts';
import { until } from './faults.ts';
import { passTime, stripe } from './elsewhere.ts';
import { runAlarm } from './inside.ts';

export const CONTINUATIONS = ['the same again', 'the same beside a twin', 'nothing but the alarm'] as const;
export type Case = {
  type: string;
  place: number;
  label: string;
  fault: FaultName;
  after: (typeof CONTINUATIONS)[number];
};

/** What can befall a passage: a request that arrives and an answer that leaves meet no backend. */
function faultsAt(label: string): FaultName[] {
  if (label.endsWith(' arrives')) return ['is delivered twice'];
  if (label.endsWith(' answers')) return ['dies before', 'dies, and it lands late'];
  // A read that lands late, or is done before it fails, is as if it had not been.
  if (label.startsWith('D1: SELECT') || label === 'network: GET')
    return FAULTS.filter((fault) => fault !== 'dies, and it lands late' && !fault.includes('answers with'));
  return label.startsWith('crypto') ? ['dies before', 'dies after', 'is delivered twice'] : FAULTS;
}

export const casesOf = (type: string, awaits: string[]): Case[] =>
  awaits.flatMap((label, place) =>
    faultsAt(label).flatMap((fault) => CONTINUATIONS.map((after) => ({ type, place, label, fault, after }))),
  );

/** The faults that lose most, worst first: memory and the answer, while the write is still on its way. */
const WORST: FaultName[] = ['dies, and it lands late', 'dies before', 'is delivered twice'];

/** One case of each await: the worst fault that can befall it, then the same request again. */
export const worstCasesOf = (type: string, awaits: string[]): Case[] =>
  awaits.flatMap((label, place) => {
    const possible = faultsAt(label);
    const fault = WORST.find((each) => possible.includes(each));
    return fault === undefined ? [] : [{ type, place, label, fault, after: CONTINUATIONS[0] }];
  });

const isAboutNothing = ({ message = '' }: Told): boolean => /Nothing was changed|was not done/.test(message);

export async function runCase({ type, place, fault, after }: Case): Promise<void> {
  const callType = callTypes[type];
  if (callType === undefined) throw new Error('there is no such call type any more');
  const begun = await callType.make();
  const { agent } = begun;
  const seen = watch(agent.object);
  seen.plan = { strikes: (_, at) => at === place, fault };
  const told: Told[] = [];
  const hear = async (answer: Promise<Told>): Promise<void> => void told.push(await answer);

  let isOver = false;
  const first = hear(begun.begin()).finally(() => (isOver = true));
  await until(() => seen.reached || isOver);
  expect(seen.reached, 'this await is not come by any more').toBe(true);
  const beside = after === 'the same beside a twin' ? [hear(begun.ask('twin'))] : [];
  if (fault === 'is delivered twice') {
    beside.push(hear(begun.begin()));
    await new Promise((resolve) => setTimeout(resolve, 4));
    seen.released = true;
  }
  await first;
  const isAlone = beside.length === 0 && callType.isShared !== true;
  if (isAlone && told.some(isAboutNothing)) expect(await attemptsOf(agent)).not.toContainEqual(applied);
  if (after !== 'nothing but the alarm') await hear(begun.begin());
  await Promise.all(beside);

  if (callType.isElsewhere === true) await passTime(agent);
  const isArmed = await runAlarm(agent.object);
  // An alarm that dies is run again by the platform, whatever it had armed.
  if (!isArmed && type.startsWith('alarm')) await alarmAgain(begun);
  await seen.land();
  // Whoever was last told that nothing was done acts on it: nothing may come of it later either.
  if (isAlone && told.slice(-1).some(isAboutNothing)) expect(await attemptsOf(agent)).not.toContainEqual(applied);
  if (callType.isElsewhere === true) await settleElsewhere(begun);
  const kept = await keptIn(agent.object);
  expect(isArmed || type.startsWith('alarm') || kept === null, 'work is due and no alarm is armed').toBe(true);
  const states = kept?.records.map(({ state }) => state) ?? [];
  expect(endsOf(callType, fault, after)).toContain(states.at(-1) ?? 'none');
  for (const state of states) expect(['approved', 'claimed'], 'stuck').not.toContain(state);

  await hear(begun.ask('probe'));
  expect(['never answered', 'UPSTREAM_UNAVAILABLE', 'INTERNAL_ERROR']).not.toContain(told.at(-1)?.code);

  await expectTruth(begun, told, kept);
}

/** What landed late is found by the next alarm. The object forgets how long it would wait, since only time would pass. */
async function settleElsewhere({ agent }: Begun): Promise<void> {
  await passTime(agent);
  await runInDurableObject(env.SESSION.getByName(agent.object), (_, ctx) => ctx.abort('the object dies')).catch(
    () => undefined,
  );
  await runAlarm(agent.object);
}

/** A call that was answered is only reported when it is sent again; one that died is carried out. */
function endsOf({ again, alone }: CallType, fault: FaultName, after: Case['after']): string[] {
  if (after === 'nothing but the alarm') return alone;
  return fault.startsWith('dies') && after === 'the same again' ? again.slice(0, 1) : again;
}

const applied = expect.objectContaining({ applied: 1 }) as unknown;

const alarmAgain = ({ agent }: Begun): Promise<void> =>
  runInDurableObject(env.SESSION.getByName(agent.object), (session: Session) => session.alarm());

type Kept = {
  uid: string;
  records: { state: string; attempt: number; approval_id: string | null }[];
  rows: AuditRow[];
  alarm: number | null;
};

/** All that the object keeps, in one look; null where no session was opened. */
const keptIn = (object: string): Promise<Kept | null> =>
  runInDurableObject(env.SESSION.getByName(object), async (_, { storage }): Promise<Kept | null> => {
    const all = <Row extends Record<string, SqlStorageValue>>(sql: string) => storage.sql.exec<Row>(sql).toArray();
    if (all("SELECT 1 FROM sqlite_master WHERE name = 'session'").length === 0) return null;
    return {
      uid: all<{ uid: string }>('SELECT uid FROM session')[0]?.uid ?? '',
      records: all('SELECT state, attempt, approval_id FROM record ORDER BY round'),
      rows: all<{ row: string }>('SELECT row FROM log ORDER BY seq').map(({ row }) => JSON.parse(row) as AuditRow),
      alarm: await storage.getAlarm(),
    };
  });

type Known = Record<string, string | number | null>;

/** All that D1 knows of a session and an order, in one look. */
async function knownOf(uid: string, order: string) {
  const sqls: [sql: string, value: string][] = [
    ['SELECT * FROM attempts WHERE uid = ? ORDER BY attempt', uid],
    ['SELECT * FROM subject_totals WHERE subject = ?', order],
    ['SELECT approval_id, status AS state FROM approvals WHERE uid = ? ORDER BY approval_id', uid],
    ['SELECT open_records FROM sessions WHERE uid = ?', uid],
  ];
  const found = await env.DB.batch<Known>(sqls.map(([sql, value]) => env.DB.prepare(sql).bind(value)));
  const [attempts = [], totals = [], approvals = [], sessions = []] = found.map(({ results }) => results);
  const rows = env.AUDIT.prepare('SELECT seq, hash FROM audit WHERE uid = ? ORDER BY seq').bind(uid);
  const { results: audit } = await rows.all<Known>();
  return { attempts: attempts as BookedAttempt[], totals: totals as SubjectTotal[], audit, approvals, sessions };
}

/** Ledger, records, audit, lists and what was told are of one mind. `reported`: what was kept when the alarm had run. */
async function expectTruth({ agent, order }: Begun, told: Told[], reported: Kept | null): Promise<void> {
  const kept = await keptIn(agent.object);
  if (kept === null) throw new Error('nobody could open the session any more');
  const { rows, records } = kept;
  const known = await knownOf(kept.uid, order);
  const done = known.attempts.filter(({ applied }) => applied === 1);
  expect(done.length, 'applied more than once').toBeLessThanOrEqual(1);
  if (order.startsWith('pi_'))
    expect(stripe.refundedOf(order), 'refunded at the other system').toBe(2_590 * done.length);
  expect(bookFaults({ rows, ...known })).toEqual([]);
  const executed = records.filter(({ state }) => state === 'executed').map(({ attempt }) => attempt);
  expect(executed, 'records that are executed').toEqual(done.map(({ attempt }) => attempt));
  expectToldOnce(rows, told);
  if (reported !== null) expectReported(reported, known);
}

/** The alarm left nothing to do, and D1 lists what the object kept then. */
function expectReported({ rows, records, alarm }: Kept, known: Awaited<ReturnType<typeof knownOf>>): void {
  expect(alarm, 'work is left').toBeGreaterThan(Date.now());
  expect(known.audit).toEqual(rows.map(({ seq, hash }) => ({ seq, hash })));
  const approvals = records.flatMap(({ approval_id, state }) => (approval_id === null ? [] : [{ approval_id, state }]));
  expect(known.approvals).toEqual(approvals.toSorted((a, b) => (a.approval_id < b.approval_id ? -1 : 1)));
  expect(known.sessions).toEqual([{ open_records: records.filter(({ state }) => state === 'pending').length }]);
}

function expectToldOnce(rows: AuditRow[], told: Told[]): void {
  const calls = rows.filter(({ kind }) => kind === 'call');
  const placed = calls.map(({ call_id, step }) => `${call_id} ${step}`);
  const heard = new Set(told.flatMap(({ row }) => (row === undefined ? [] : [row])));
  expect(placed, 'what was told has its row').toEqual(expect.arrayContaining([...heard]));
  // An answer that was lost has its row as well; what others asked before and beside is not listened to.
  const unheard = placed.filter((row) => /^(same|twin|probe) /.test(row) && !heard.has(row));
  expect(unheard.length).toBeLessThanOrEqual(told.filter(({ row }) => row === undefined).length);
  const end = rows.findIndex(({ attempt }) => attempt !== null);
  const after = rows.filter(
    ({ key, kind, seq }) => kind === 'call' && end !== -1 && seq > end && key === rows[end]?.key,
  );
  for (const { code } of after) expect(code, 'called failed though it was applied').toBe('OK');
}
