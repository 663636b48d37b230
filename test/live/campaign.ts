/** Rounds of load, death, restart and reckoning, on one ever growing state. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Random } from '../simulation/random.ts';
import { account, checkConsents, checkLimits } from './accounts.ts';
import { Agent, POLICY, type Call } from './agent.ts';
import { Approver, isUndecided, type Asked } from './approver.ts';
import type { BuiltWorker } from './built-worker.ts';
import { openRecordsOnDisk, type OpenRecord } from './disk.ts';
import { Gate } from './gate.ts';
import { SETTLE_LIMIT_MS, untilSettled } from './settling.ts';
import {
  checkBooks,
  checkDecisions,
  checkLedger,
  checkRows,
  checkTold,
  inTime,
  verifyAudit,
  Violation,
} from './truth.ts';

const AGENTS = 12;
const ORDERS = 12;
const MAX_ORDERS = 9_999;
/** A mail leaves within ten seconds. */
const MAIL_LIMIT_MS = 30_000;
const MAIL_WAIT_MS = 3_000;
/** Under load before the kill. */
const MIN_LOAD_MS = 100;
const MAX_LOAD_MS = 2_500;
const LOOK_MS = 100;
/** A session answers 60 polls a minute, and may have three approvals that wait. */
const POLL_MS = 1_000;
const ROUND_MS = 3 * POLL_MS;

export class Campaign {
  readonly #worker: BuiltWorker;
  readonly #gate: Gate;
  readonly #seed: string;
  readonly #approver: Approver;
  #agents: Agent[] = [];
  #rounds = 0;
  /** Answers to calls so far. */
  #answers = 0;
  #caller: { caller_id: string; api_key: string } | null = null;
  readonly #sum: Met = {
    answered: 0,
    cutOff: 0,
    claimed: 0,
    approved: 0,
    pending: 0,
    byAlarm: 0,
    inEffect: 0,
    slowestMs: 0,
  };

  constructor(worker: BuiltWorker, seed: string) {
    this.#worker = worker;
    this.#gate = new Gate(worker.url);
    this.#seed = seed;
    this.#approver = new Approver(this.#gate, new Random(`${seed}/approver`));
  }

  /** One kill and its reckoning; says in a line what it met. Throws a `Violation`. */
  async round(): Promise<string> {
    this.#rounds += 1;
    const random = new Random(`${this.#seed}/${this.#rounds}`);
    const startedAt = Date.now();
    const agents = await this.#newAgents(random);
    await this.#untilMails();
    const leftOver = this.#approver.undecided();
    const { answered, cutOff } = await this.#loadAndKill(agents, random);
    const open = openRecordsOnDisk(this.#worker.folder, startedAt);
    await this.#worker.start();
    const restartedAt = Date.now();
    this.#approver.forgetMails();

    // Half of the sessions are asked at once, so that a call resumes what is open; all others are left to their alarms.
    const silent = agents.filter(() => random.chance(0.5));
    const asked = agents.filter((agent) => !silent.includes(agent));
    await Promise.all(asked.map(askAgain));
    const uids = new Set(asked.map(({ session }) => session.uid));
    const sent = open.filter(({ state }) => state !== 'pending');
    const left = sent.filter(({ uid }) => !uids.has(uid));
    const toSettle = { asked: sent.filter(({ uid }) => uids.has(uid)), silent: left };
    const settledMs = await untilSettled(this.#worker, toSettle, restartedAt);
    await Promise.all(silent.map(askAgain));
    await this.#reckon(agents);
    await verifyAudit(this.#worker);
    // Who did not come to it under load decides now, or the undecided would pile up.
    await Promise.all(leftOver.filter(isUndecided).map((asked) => this.#approver.decide(asked)));
    await this.#askForMails();

    const count = (state: OpenRecord['state']): number => open.filter((record) => record.state === state).length;
    const met = { claimed: count('claimed'), approved: count('approved'), pending: count('pending') };
    this.#add({ answered, cutOff, ...met, byAlarm: left.length }, settledMs);
    return `${answered} answered, ${cutOff} cut off; on disk ${met.claimed} claimed, ${met.approved} approved, ${met.pending} pending; ${left.length} left to alarms; settled in ${(settledMs / 1_000).toFixed(1)} s`;
  }

  /** Lets people decide what is left, reckons for the last time, and says what it all came to. */
  async end(): Promise<string> {
    await this.#decideTheRest();
    await this.#reckon(this.#agents);
    const accounts = await account(
      this.#worker,
      this.#agents.flatMap(({ calls }) => calls),
    );
    const audit = await verifyAudit(this.#worker);
    const asked = [...this.#approver.asked.values()];
    const cutOffDecisions = asked.flatMap(({ answers }) => answers).filter((answer) => answer === null).length;
    const { answered, cutOff, claimed, approved, pending, byAlarm, inEffect, slowestMs } = this.#sum;
    return [
      `${this.#rounds} kills: ${answered} calls answered, ${cutOff} cut off and asked again.`,
      `At death ${claimed} effects were claimed, ${approved} approved, ${pending} pending; ${inEffect} kills met an effect on its way.`,
      `${asked.filter(({ status }) => status !== 'pending').length} of ${asked.length} approvals were decided, ${cutOffDecisions} decisions cut off.`,
      `The alarm settled ${byAlarm} of them; the slowest settled ${(slowestMs / 1_000).toFixed(1)} s after the restart.`,
      accounts,
      audit,
    ].join('\n');
  }

  async #decideTheRest(): Promise<void> {
    await this.#askForMails();
    for (const deadline = Date.now() + MAIL_LIMIT_MS; ; await sleep(ROUND_MS)) {
      await this.#approver.openMails();
      await this.#learnStatuses();
      const left = this.#approver.undecided();
      if (left.length === 0) return;
      if (Date.now() > deadline) throw new Violation(`no mail, or no decision: ${left.map(({ id }) => id).join(', ')}`);
      for (const asked of left) await this.#approver.decide(asked);
    }
  }

  async #newAgents(random: Random): Promise<Agent[]> {
    this.#caller ??= await this.#gate.newCaller(POLICY);
    const caller = this.#caller;
    const orders = await this.#newOrders(random);
    const agents = await Promise.all(
      Array.from({ length: AGENTS }, async (_, number) => {
        const name = `r${this.#rounds}-a${number}`;
        const limit = random.chance(0.3) ? { max_session_refund_cents: random.int(10_000, 60_000) } : {};
        const session = await this.#gate.open(caller, name, limit);
        const own = new Random(`${this.#seed}/${name}`);
        return new Agent(this.#gate, session, own, orders, (call) => this.#heard(call));
      }),
    );
    this.#agents.push(...agents);
    return agents;
  }

  /** Small enough to be paid back to the last cent while the load lasts. */
  async #newOrders(random: Random): Promise<string[]> {
    const first = (this.#rounds - 1) * ORDERS;
    if (first + ORDERS > MAX_ORDERS) throw new Error('there are no more order numbers');
    const orders = Array.from({ length: ORDERS }, (_, number) => `ORD-${String(first + number).padStart(4, '0')}`);
    for (const order of orders)
      await this.#worker.rows(
        `INSERT INTO orders (order_id, customer_id, total_cents, currency) VALUES (?, 'CUS-1', ?, 'BRL')`,
        ...[order, random.int(20_000, 400_000)],
      );
    return orders;
  }

  #heard(call: Call): void {
    this.#answers += 1;
    this.#approver.hear(call);
  }

  async #loadAndKill(agents: Agent[], random: Random): Promise<{ answered: number; cutOff: number }> {
    const before = this.#answers;
    const at = random.chance(0.75) ? 'a write of the ledger' : 'any moment';
    const killed = this.#worker.kill(random.int(MIN_LOAD_MS, MAX_LOAD_MS), at);
    await Promise.all([killed, this.#approver.runUntil(killed), ...agents.map((agent) => agent.runUntilDeath())]);
    const cutOff = agents.flatMap(({ calls }) => calls).filter(({ told }) => told.length === 0).length;
    return { answered: this.#answers - before, cutOff };
  }

  /** Holds the ledger, the audit and everything that was told against each other; older sessions are left to the end. */
  async #reckon(agents: readonly Agent[]): Promise<void> {
    await this.#learnStatuses();
    // What people decided since a call was told of its approval is the present truth of that call.
    for (const agent of this.#agents) await Promise.all(agent.calls.filter(isWaiting).map((call) => agent.send(call)));
    await checkLedger(this.#worker);
    await checkTold(
      this.#worker,
      agents.flatMap(({ calls }) => calls),
    );
    for (const { session, calls } of agents) await inTime(() => checkRows(this.#worker, session, calls));
    await inTime(() => checkBooks(this.#worker));
    await checkLimits(
      this.#worker,
      agents.map(({ session }) => session),
    );
    const asked = [...this.#approver.asked.values()];
    await checkConsents(this.#worker, asked);
    await inTime(() => checkDecisions(this.#worker, asked));
  }

  async #learnStatuses(): Promise<void> {
    for (const asked of this.#approver.asked.values())
      if (asked.status === 'pending') asked.status = await this.#restingStatus(asked);
  }

  /** What was approved is on its way: the ledger may have its row a moment before the session does. */
  async #restingStatus({ id, call }: Asked): Promise<string> {
    for (const deadline = Date.now() + SETTLE_LIMIT_MS; ; await sleep(POLL_MS)) {
      const status = await this.#gate.approvalStatus(call.session.token, id);
      if (status !== 'approved' || Date.now() > deadline) return status;
    }
  }

  /** The pages are open when the load begins, or most of them, so that decisions die with it. */
  async #untilMails(): Promise<void> {
    for (const deadline = Date.now() + MAIL_WAIT_MS; Date.now() < deadline; await sleep(LOOK_MS)) {
      await this.#approver.openMails();
      if (this.#approver.undecided().every(({ shown }) => shown !== null)) return;
    }
  }

  /** What was in the local queue and mailbox died with the Worker; the operator asks again. */
  async #askForMails(): Promise<void> {
    for (const asked of this.#approver.undecided()) if (asked.link === null) await this.#gate.resend(asked.id);
  }

  #add(met: Omit<Met, 'slowestMs' | 'inEffect'>, settledMs: number): void {
    const sum = this.#sum;
    for (const name of ['answered', 'cutOff', 'claimed', 'approved', 'pending', 'byAlarm'] as const)
      sum[name] += met[name];
    if (met.claimed + met.approved > 0) sum.inEffect += 1;
    sum.slowestMs = Math.max(sum.slowestMs, settledMs);
  }
}

/** What kills met, added up. `byAlarm`: effects left to alarms; `inEffect`: kills that met one that may have been on its way. */
type Met = {
  answered: number;
  cutOff: number;
  claimed: number;
  approved: number;
  pending: number;
  byAlarm: number;
  inEffect: number;
  slowestMs: number;
};

const isWaiting = ({ told }: Call): boolean => told.at(-1)?.code === 'CONFIRMATION_REQUIRED';

/** Every refund that was sent is sent again under its id, and every call that got no answer. */
async function askAgain(agent: Agent): Promise<void> {
  const asked = agent.calls.filter(({ key, told }) => key !== null || told.length === 0);
  await Promise.all(asked.map((call) => agent.send(call)));
}
