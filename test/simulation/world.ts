/** A whole simulated deployment: the product's Worker with its bindings, and the parts of the platform behind them. */
import { readConfig, type Config } from '../../src/gate/env.ts';
import { objectStub } from '../../src/gate/http/shared/context.ts';
import { Backend } from './backend.ts';
import { worker } from './elsewhere.ts';
import type { SqlRow, SqlValue } from '../../src/gate/ports.ts';
import type { SessionRpc } from '../../src/gate/session/rpc.ts';
import { PUBLIC_URL, VARIABLES } from './deployment.ts';
import { Ledger, type Sender } from './ledger.ts';
import { MailService, MessageQueue, type Letter } from './mail.ts';
import type { Model } from './model.ts';
import { stubFor } from './network.ts';
import { enter } from './platform.ts';
import { Random } from './random.ts';
import type { Scenario } from './scenario.ts';
import { SimulatedObject } from './session-object.ts';
import type { Stage } from './stage.ts';
import type { Trace } from './trace.ts';
import { VirtualTime } from './virtual-time.ts';

const reading = readConfig(VARIABLES);
if (!reading.ok) throw new Error('the simulated deployment is not configured');
const config: Config = reading.config;

const isCalm = ({ faults, disturbances }: Scenario): boolean =>
  disturbances.length === 0 && Object.values(faults).every((chance) => chance === 0);

const CRON_MS = 5 * 60_000;

export class World implements Stage {
  readonly scenario: Scenario;
  readonly time = new VirtualTime();
  readonly trace: Trace;
  readonly faults: Scenario['faults'];
  readonly ledger: Ledger;
  readonly backend: Backend;
  readonly env: Env;
  readonly config = config;
  readonly #objects = new Map<string, SimulatedObject>();
  readonly #model: Model;
  /** Where no alarm is dropped nobody may need the cron. */
  #needsCron: boolean;
  #cron: boolean;

  constructor(scenario: Scenario, model: Model, arrived: (letter: Letter) => void, trace: Trace) {
    [this.scenario, this.#model, this.trace] = [scenario, model, trace];
    this.faults = { ...scenario.faults };
    const stream = (name: string): Random => new Random(`${name} ${scenario.seed}`);
    enter({ time: this.time, random: stream('platform') });
    model.begin(this);
    if (isCalm(scenario)) model.quiet();
    this.ledger = new Ledger(this.time, this.faults, model.ledger, this.note);
    this.backend = new Backend(this.time, this.faults, model.external, this.note);
    model.external.ledger = this.ledger;
    const post = { time: this.time, faults: this.faults, random: stream('queue'), note: this.note };
    const queue = new MessageQueue({ ...post, consume: async (batch) => worker.queue(batch, this.env) });
    const mail = new MailService({ ...post, random: stream('mail') }, arrived);
    const network = { time: this.time, faults: this.faults, random: stream('network'), note: this.note };
    this.#queue = queue;
    const sender: Sender = {
      random: stream('worker'),
      leave: async () => undefined,
      isGone: () => false,
      crash: () => undefined,
      cut: () => null,
    };
    this.env = {
      ...VARIABLES,
      DB: this.ledger.binding(sender),
      AUDIT: this.ledger.binding(sender, this.ledger.audit),
      SESSION: { getByName: (name: string): SessionRpc => stubFor(this.object(name), network) },
      QUEUE: {
        sendBatch: (messages: { body: never }[]) =>
          queue.send(
            messages.map(({ body }) => body),
            network.random,
          ),
      },
      EMAIL: mail,
      FAILED_CREDENTIALS: { limit: async () => ({ success: true }) },
    } as unknown as Env;
    this.#needsCron = this.#cron = scenario.faults.alarmDropped > 0;
    this.#tick();
  }
  readonly #queue: MessageQueue;

  note = (what: string): void => this.trace.note(this.time.elapsed, what);

  get objects(): SimulatedObject[] {
    return [...this.#objects.values()];
  }

  object(name: string): SimulatedObject {
    const known = this.#objects.get(name);
    if (known !== undefined) return known;
    const { time, faults, ledger, backend, note } = this;
    const made = new SimulatedObject(
      name,
      String(this.#objects.size),
      {
        time,
        faults,
        ledger,
        backend,
        config,
        witness: this.#model.objects,
        note,
        needCron: () => this.needCron(),
        log: () => undefined,
        send: (messages, random) => this.#queue.send(messages, random),
      },
      this.scenario.seed,
    );
    this.#objects.set(name, made);
    return made;
  }

  async fetch(path: string, init: RequestInit): Promise<Response> {
    return worker.fetch(new Request(`${PUBLIC_URL}${path}`, init), this.env, { waitUntil: () => undefined } as never);
  }

  /** From here on nothing fails any more. */
  calm(): void {
    for (const kind of Object.keys(this.faults)) this.faults[kind as keyof Scenario['faults']] = 0;
    this.#model.quiet();
  }

  get seed(): number {
    return this.scenario.seed;
  }
  get http(): boolean {
    return this.scenario.http;
  }
  session = (object: string): SessionRpc => objectStub(this.env, object);
  ledgerRows = async (sql: string, ...params: SqlValue[]): Promise<SqlRow[]> => this.ledger.database.all(sql, params);
  looked = (n: number): Promise<void> => this.ledger.looked(n);

  needCron(): void {
    if (this.#needsCron) return;
    this.#needsCron = this.#cron = true;
    this.#tick();
  }

  pauseCron(): void {
    this.#cron = false;
  }

  resumeCron(): void {
    this.#cron = this.#needsCron;
    this.#tick();
  }

  end(): void {
    for (const object of this.objects) object.end();
    this.ledger.end();
  }

  #tick(): void {
    if (this.#cron) this.time.after(CRON_MS, () => void this.#wakeAll());
  }

  async #wakeAll(): Promise<void> {
    if (!this.#cron) return;
    this.note('cron');
    try {
      await worker.scheduled({} as never, this.env);
    } catch (error) {
      this.note(`cron fails: ${String(error)}`);
    }
    this.#tick();
  }
}
