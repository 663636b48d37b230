/**
 * Runs one tool with an effect in another system through every fault between the gate and that system: in a call, in the
 * decision of an approver, and in the alarm. The system is a double that keeps its own books. Time is simulated.
 */
import { describe, expect, it, vi } from 'vitest';
import { backendsWith } from '../../src/gate/backends/http.ts';
import type { JsonObject } from '../../src/gate/json.ts';
import type { Policy } from '../../src/gate/ports.ts';
import type { Tool } from '../../src/gate/tool/define-tool.ts';
import { nodeSession } from './node-session.ts';

/** The other system. `effects` counts what it has done, by its own books. */
export type Double = { handle(request: Request): Promise<Response>; effects(): number };

export type FaultRun = {
  tool: Tool;
  /** Arguments of a call that the double would do. */
  arguments: JsonObject;
  /** The variables that the tool's backend names; the origin must be https. */
  variables: Record<string, string>;
  double(): Double;
  policy?: Partial<Policy>;
};

type Go = () => Promise<Response>;
/** What becomes of one request; `world` may die or let something happen later. */
type Fault = (go: Go, world: World) => Promise<Response>;
type World = { die(): void; after(ms: number, act: () => Promise<unknown>): void };

const silence = (): Promise<never> => new Promise(() => undefined);
const lost = (): Promise<never> => Promise.reject(new TypeError('fetch failed'));
const answer =
  (status: number, body: string): Fault =>
  async (go) => {
    await go();
    return new Response(body, { status });
  };

/** Faults of one request that makes the effect. */
const FAULTS: Record<string, Fault> = {
  'is lost on its way': lost,
  'is done, and its answer lost': async (go) => (await go(), lost()),
  'is never answered': silence,
  'is done, and never answered': async (go) => (await go(), silence()),
  'is done, and answered 500': answer(500, '{"error":"internal"}'),
  'is done, and answered 401': answer(401, '{}'),
  'is done, and answered 409': answer(409, '{}'),
  'is done, and redirected': answer(302, ''),
  'is done, and answered with a page': answer(200, '<html>'),
  'is done, and answered with other JSON': answer(200, '{"ok":true}'),
  'is done, and answered with more than is read': answer(200, `{"text":"${'x'.repeat(70_000)}"}`),
  'is refused with 401 before the key is looked up': async () => new Response('{}', { status: 401 }),
  'is refused with 429': async () => new Response('{}', { status: 429 }),
  'is done ten minutes after its sender gave up': async (go, { after }) => (after(600_000, go), lost()),
  'is done, and the object dies before it is answered': async (go, { die }) => (await go(), die(), silence()),
  'is lost, and the object dies': async (_go, { die }) => (die(), silence()),
};

/** Where the fault is met. */
const MOMENTS = ['a call', 'a decision', 'the alarm'] as const;
type Moment = (typeof MOMENTS)[number];

const HOUR_MS = 60 * 60_000;
const STEP_MS = 250;

/** Registers a test for each fault at each moment, and one that a lost answer is settled within 30 seconds. */
export function testFaults(run: FaultRun): void {
  const { name, external } = run.tool;
  if (external === null) throw new Error(`${name} has no effect in another system`);
  describe.each(MOMENTS)(`${name} in %s`, (moment) => {
    it.each(Object.keys(FAULTS))('makes one effect at most where the request %s', async (fault) => {
      await meetFault(run, fault, moment);
    });
  });
  const settles = external.lagMs !== null || external.backend.key !== null;
  it.runIf(settles)(`${name} settles a lost answer by itself within 30 seconds`, async () => {
    const at = await meetFault(run, 'is done, and its answer lost', 'a call');
    expect(at.settledAfterMs).toBeLessThan(30_000);
    expect(new Set(at.sent.map((each) => JSON.stringify(each))).size, 'different requests').toBe(1);
    expect(at.effects).toBe(1);
  });
}

/** One run; resolves when the books agree. Needs fake timers, which it sets and takes back. */
async function meetFault(run: FaultRun, name: string, moment: Moment): Promise<Run> {
  vi.useFakeTimers({ now: 1_800_000_000_000, toFake: ['setTimeout', 'clearTimeout', 'Date'] });
  try {
    const at = await Run.begin(run, moment);
    at.planned.push(...(moment === 'the alarm' ? [FAULTS['is lost on its way'] ?? lost] : []), FAULTS[name] ?? lost);
    await at.propose();
    await at.pass(2 * HOUR_MS);
    at.expectAgreement();
    return at;
  } finally {
    vi.useRealTimers();
  }
}

class Run {
  /** Faults of the next effect requests. Look-ups of a faulty call do not answer either, so that the alarm has work. */
  readonly planned: Fault[] = [];
  readonly told: { code: string; effects: number; at: number }[] = [];
  readonly sent: { key: string | null; body: string }[] = [];
  /** When the effect was told as done, in ms after the call. */
  settledAfterMs: number | null = null;
  readonly #run: FaultRun;
  readonly #moment: Moment;
  readonly #double: Double;
  #stage!: Awaited<ReturnType<typeof nodeSession>>;
  #later: { at: number; act: () => Promise<unknown> }[] = [];
  #calls = 0;
  #begunAt = 0;

  private constructor(run: FaultRun, moment: Moment) {
    [this.#run, this.#moment, this.#double] = [run, moment, run.double()];
  }

  static async begin(run: FaultRun, moment: Moment): Promise<Run> {
    const at = new Run(run, moment);
    const { variables } = run;
    const backends = backendsWith({ variables, loopback: false, fetch: at.#fetch, log: () => undefined });
    const confirm_above_cents = moment === 'a decision' ? 0 : 50_000;
    at.#stage = await nodeSession([run.tool], { confirm_above_cents, ...run.policy }, { backends });
    return at;
  }

  get effects(): number {
    return this.#double.effects();
  }
  get states(): unknown[] {
    return this.#stage.own
      .prepare('SELECT state FROM record ORDER BY step')
      .all()
      .map(({ state }) => state);
  }
  get openSends(): unknown {
    return this.#stage.shared.prepare('SELECT count(*) AS n FROM open_sends').get()?.['n'];
  }
  get applied(): unknown {
    return this.#stage.shared.prepare('SELECT count(*) AS n FROM attempts WHERE applied = 1').get()?.['n'];
  }

  #fetch = async (url: string, init: RequestInit): Promise<Response> => {
    const { signal, ...rest } = init;
    const request = new Request(url, rest);
    const arrive: Go = () => this.#double.handle(request.clone());
    const isEffect = request.method !== 'GET';
    if (isEffect) {
      const key = request.headers.get('idempotency-key');
      this.sent.push({ key, body: await request.clone().text() });
    }
    const fault = isEffect ? this.planned.shift() : undefined;
    const world: World = {
      die: () => this.#stage.restart(),
      after: (ms, act) => void this.#later.push({ at: Date.now() + ms, act }),
    };
    const aborted = new Promise<never>((_, fail) =>
      signal?.addEventListener('abort', () => fail(new DOMException('aborted', 'AbortError'))),
    );
    return Promise.race([fault === undefined ? arrive() : fault(arrive, world), aborted]);
  };

  /** The call, and where the run is of a decision the approver's yes. */
  async propose(): Promise<void> {
    this.#begunAt = Date.now();
    await this.#call();
    if (this.#moment === 'a decision') await this.#during(this.#stage.decide('approve'));
  }

  /** Lets time pass: alarms fire when they are due, what is late arrives, and every few minutes the agent asks again. */
  async pass(ms: number): Promise<void> {
    const end = Date.now() + ms;
    let asked = Date.now();
    while (Date.now() < end) {
      const due = Math.min(
        this.#stage.alarmAt() ?? Infinity,
        ...this.#later.map(({ at }) => at),
        asked + HOUR_MS / 4,
        end,
      );
      await vi.advanceTimersByTimeAsync(Math.max(due - Date.now(), STEP_MS));
      const late = this.#later.filter(({ at }) => at <= Date.now());
      this.#later = this.#later.filter(({ at }) => at > Date.now());
      for (const { act } of late) await act();
      if ((this.#stage.alarmAt() ?? Infinity) <= Date.now()) await this.#during(this.#stage.fireAlarm());
      if (this.settledAfterMs === null && this.applied === 1) this.settledAfterMs = Date.now() - this.#begunAt;
      if (Date.now() < asked + HOUR_MS / 4) continue;
      asked = Date.now();
      await this.#call();
    }
  }

  async #call(): Promise<void> {
    const { session, uid } = this.#stage;
    const call_id = `call-${(this.#calls += 1)}`;
    const { tool, arguments: args } = this.#run;
    const asked = { uid, tool: tool.name, arguments: args, call_id, request_id: 'req' };
    const answered = await this.#during(session.call(asked));
    if (answered === undefined) return;
    if ('refused' in answered) throw new Error(answered.refused);
    const { ok, code } = answered.outcome;
    this.told.push({ code, effects: this.effects, at: Date.now() });
    if (ok) expect(this.effects, 'told OK').toBe(1);
  }

  /** Waits while simulated time passes; undefined where the object died meanwhile. */
  async #during<T>(work: Promise<T>): Promise<T | undefined> {
    const life = this.#stage.life();
    const ended = { isSo: false };
    const settled = work.finally(() => (ended.isSo = true));
    settled.catch(() => undefined);
    while (!ended.isSo && this.#stage.life() === life) await vi.advanceTimersByTimeAsync(STEP_MS);
    return this.#stage.life() === life ? settled : undefined;
  }

  /** Never two effects; and once faults stop the records say what the double's books say, or wait for an operator. */
  expectAgreement(): void {
    expect(this.effects, 'effects in the books of the other system').toBeLessThanOrEqual(1);
    const isOpen = this.states.some((state) => state === 'claimed' || state === 'approved');
    if (isOpen) {
      expect(this.openSends, 'open rows of an effect that waits for an operator').toBe(1);
      const { external } = this.#run.tool;
      expect(external?.lagMs ?? null, 'a backend with a look-up settles by itself').toBeNull();
      return;
    }
    expect(this.openSends).toBe(0);
    expect(this.applied, 'applied attempts in the ledger').toBe(this.effects);
    expect(this.states.filter((state) => state === 'executed')).toHaveLength(this.effects);
  }
}
