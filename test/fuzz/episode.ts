/** Some hundred requests to a fresh target, all from one seed: told again, it is the same. */
import { createHash } from 'node:crypto';
import { setImmediate as pause } from 'node:timers/promises';
import { Random } from '../simulation/random.ts';
import { faultsOf, type Heard } from './accounts.ts';
import { broken, leaking, outcomesIn, uidOf, type Answer } from './answer.ts';
import { bent } from './bend.ts';
import { Pool, type Session } from './pool.ts';
import { header, shown, toRequest, type Asked } from './request.ts';
import type { Target } from './target.ts';
import { validRequest } from './valid.ts';

export type Finding = { seed: string; request: number; rule: string; text: string };
export type Slowest = { ms: number; seed: string; request: number; route: string };
export type Report = {
  requests: number;
  findings: Finding[];
  statuses: Record<string, number>;
  slowest: Slowest;
  /** A hash over all that was asked and answered. */
  trace: string;
};

const SETTLED_EVERY = 40;
/** Nothing waits in a target: what takes this long never answers. */
const ANSWER_LIMIT_MS = 60_000;

export class Episode {
  readonly #seed: string;
  readonly #random: Random;
  readonly #target: Target;
  readonly #pool: Pool;
  readonly #heard: Heard = { told: [], answered: new Set(), unread: new Set(), decisions: 0 };
  readonly #trace = createHash('sha256');
  readonly report: Report;

  /** The target is fresh, and closed when the episode is over. */
  constructor(seed: string, target: Target) {
    this.#seed = seed;
    this.#random = new Random(`episode ${seed}`);
    this.#target = target;
    this.#pool = new Pool(this.#target, this.#random);
    const slowest = { ms: 0, seed, request: 0, route: '' };
    this.report = { requests: 0, findings: [], statuses: {}, slowest, trace: '' };
  }

  async run(requests: number): Promise<Report> {
    await this.#pool.begin();
    while (this.report.requests < requests) {
      await this.#askSome(requests - this.report.requests);
      if (this.#random.chance(1 / SETTLED_EVERY)) await this.#settle();
    }
    await this.#settle();
    for (const fault of await faultsOf(this.#target, this.#heard)) this.#find('the books', fault);
    for (const line of leaking(this.#target.logged)) this.#find('the log', line);
    this.#target.close();
    this.report.trace = this.#trace.digest('hex');
    return this.report;
  }

  /** One request as a rule, sometimes the same several times at once. */
  async #askSome(left: number): Promise<void> {
    const random = this.#random;
    let asked = validRequest(this.#pool, random);
    for (let bends = random.pick([0, 1, 1, 1, 1, 1, 1, 2]); bends > 0; bends -= 1)
      asked = bent(asked, random, this.#pool);
    const times = Math.min(left, random.chance(0.05) ? random.int(2, 6) : 1);
    const answers = await Promise.all(Array.from({ length: times }, () => this.#ask(asked)));
    for (const answer of answers) if (answer !== null) await this.#take(asked, answer);
    await this.#pool.refresh();
  }

  async #ask(asked: Asked): Promise<Answer | null> {
    const request = toRequest(asked);
    if (request === null) return null;
    this.report.requests += 1;
    const at = this.report.requests;
    const started = performance.now();
    try {
      const answer = await inTime(this.#answerTo(request));
      for (const rule of broken(answer, asked))
        this.#find(rule, `${shown(asked)}\n  -> ${answer.status} ${answer.text.slice(0, 500)}`, at);
      return answer;
    } catch (error) {
      this.#find('an answer', `${shown(asked)}\n  -> ${error instanceof Error ? error.stack : String(error)}`, at);
      return null;
    } finally {
      const ms = performance.now() - started;
      if (ms > this.report.slowest.ms) this.report.slowest = { ms, seed: this.#seed, request: at, route: asked.route };
    }
  }

  async #answerTo(request: Request): Promise<Answer> {
    const response = await this.#target.fetch(request);
    const text = new TextDecoder().decode(await response.arrayBuffer());
    return { status: response.status, headers: response.headers, text };
  }

  /** What the answer names is there for later requests, and is counted. */
  async #take(asked: Asked, answer: Answer): Promise<void> {
    const { status, headers, text } = answer;
    this.#trace.update(JSON.stringify([shown(asked), status, [...headers], text]));
    const name = `${asked.route} ${status}`;
    this.report.statuses[name] = (this.report.statuses[name] ?? 0) + 1;
    const credential = header(asked, 'authorization');
    const token = /^bearer +(.*)$/i.exec(credential ?? '')?.[1] ?? '';
    if (asked.route === 'POST /approvals/{id}' && status === 303) this.#heard.decisions += 1;
    if (status === 401 || status === 429) return this.#pool.dropSession(token);
    if (status !== 200 && status !== 201) return;
    if (/^POST \/(?:v1\/calls|mcp)/.test(asked.route))
      this.#hear(asked, answer, uidOf(credential), headers.get('x-request-id') ?? '');
    if (!headers.get('content-type')?.startsWith('application/json') || text === '') return;
    const body = JSON.parse(text) as Record<string, unknown>;
    const caller = this.#pool.callers.find(({ api_key }) => api_key === token);
    if (asked.path === '/v1/sessions' && caller !== undefined) this.#pool.takeSession(caller, body);
    if (typeof body['api_key'] === 'string')
      this.#pool.takeCaller({ caller_id: String(body['caller_id']), api_key: body['api_key'] });
    if (typeof body['next_cursor'] === 'string') this.#pool.takeCursor(body['next_cursor']);
  }

  #hear(asked: Asked, answer: Answer, uid: string | null, request_id: string): void {
    this.#heard.answered.add(request_id);
    // HEAD is not a route of calls, and MCP answers an unknown tool without an outcome.
    if (asked.route === 'POST /mcp' || uid === null) this.#heard.unread.add(request_id);
    if (uid === null) return;
    const session = this.#pool.sessions.find(({ token }) => header(asked, 'authorization')?.endsWith(token) === true);
    for (const { approval, step, ...told } of outcomesIn(answer)) {
      if (step !== null) this.#heard.told.push({ ...told, uid, step, request_id });
      if (approval !== undefined && session !== undefined) this.#pool.takeApproval(approvalOf(approval, session));
    }
  }

  async #settle(): Promise<void> {
    await this.#target.settle();
    // Promises that nobody awaits come up here, if there are any.
    await pause();
  }

  #find(rule: string, text: string, request = this.report.requests): void {
    this.report.findings.push({ seed: this.#seed, request, rule, text });
  }
}

async function inTime(answer: Promise<Answer>): Promise<Answer> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`no answer within ${ANSWER_LIMIT_MS} ms`)), ANSWER_LIMIT_MS);
  return Promise.race([answer, late]).finally(() => clearTimeout(timer));
}

function approvalOf({ id, arguments: args }: { id: string; arguments: Record<string, unknown> }, session: Session) {
  const { order_id, amount_cents, currency } = args;
  return { id, session, order_id: String(order_id), amount_cents: Number(amount_cents), currency: String(currency) };
}
