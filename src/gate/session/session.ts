/**
 * The Durable Object of one (caller, session): its only writer. Its tables (session, log, record, heads) are described in
 * schema.ts and made by opening a session. This file only wires the platform to the core; per call it keeps nothing.
 */
import { DurableObject } from '#durable-object';
import type { Config } from '../env.ts';
import { hex } from '../canonical.ts';
import { readConfig } from '../env.ts';
import { backendsWith } from '../backends/http.ts';
import { logLine } from '../log-line.ts';
import type { CallerChange, SessionSql } from '../ports.ts';
import { ledgerSql } from '../ledger/d1.ts';
import type { Registry } from '../tool/registry.ts';
import type { SessionCore } from './core.ts';
import { sessionCore } from './core.ts';
import type { SessionPorts } from './session-ports.ts';
import type {
  CallRequest,
  DecisionRequest,
  LinkProof,
  OpenRequest,
  QueueMessage,
  SessionRpc,
  SettleOrder,
} from './rpc.ts';
import { upstreamWith } from './upstream.ts';

const UNCONFIGURED_MS = 5 * 60_000;
const SEND_LIMIT_MS = 5_000;
/** The alarm waits for its sends, and no other alarm comes meanwhile. */
const sendLimits = (now: number) => ({ tryMs: SEND_LIMIT_MS, deadline: now + SEND_LIMIT_MS });

/** The class of the Durable Object for these tools. */
export const sessionClass = (registry: Registry) =>
  class extends DurableObject<Env> implements SessionRpc {
    /** Null while the Worker is not configured: it answers 503 then, and an object reached in another way stays shut. */
    readonly #configured: SessionCore | null;

    constructor(ctx: DurableObjectState, env: Env) {
      super(ctx, env);
      const reading = readConfig(env);
      this.#configured = reading.ok ? sessionCore(portsOf(ctx.storage, env, reading.config, registry)) : null;
    }

    get #core(): SessionCore {
      if (this.#configured === null) throw new Error('not configured');
      return this.#configured;
    }

    open(request: OpenRequest) {
      return this.#core.open(request);
    }
    end(uid: string | null) {
      return this.#core.end(uid);
    }
    call(request: CallRequest) {
      return this.#core.call(request);
    }
    tools(uid: string) {
      return this.#core.tools(uid);
    }
    approval(uid: string, id: string, waitSeconds: number) {
      return this.#core.approval(uid, id, waitSeconds);
    }
    view(proof: LinkProof) {
      return this.#core.view(proof);
    }
    decide(request: DecisionRequest) {
      return this.#core.decide(request);
    }
    tell(change: CallerChange) {
      return this.#core.tell(change);
    }
    mailTask(message: QueueMessage) {
      return this.#core.mailTask(message);
    }
    delivered(message: QueueMessage, result: 'sent' | 'undeliverable') {
      return this.#core.delivered(message, result);
    }
    resend(approvalId: string, requestId: string) {
      return this.#core.resend(approvalId, requestId);
    }
    withdraw(approvalId: string, requestId: string) {
      return this.#core.withdraw(approvalId, requestId);
    }
    effects() {
      return this.#core.effects();
    }
    settleEffect(effectKey: string, order: SettleOrder, requestId: string) {
      return this.#core.settleEffect(effectKey, order, requestId);
    }
    resendEffect(effectKey: string, requestId: string) {
      return this.#core.resendEffect(effectKey, requestId);
    }
    heads() {
      return this.#core.heads();
    }
    wake() {
      return this.#core.wake();
    }
    override alarm() {
      // An alarm that throws is given up after six failures: a secret missing for minutes must not cost what was due.
      if (this.#configured === null) return this.ctx.storage.setAlarm(Date.now() + UNCONFIGURED_MS);
      return this.#configured.alarm();
    }
  };

function portsOf(storage: DurableObjectStorage, env: Env, config: Config, tools: Registry): SessionPorts {
  const now = (): number => Date.now();
  const upstream = upstreamWith(now);
  const variables = env as unknown as Readonly<Record<string, unknown>>;
  const { loopback } = config;
  return {
    sql: sqlOf(storage),
    ledger: ledgerSql(env.DB),
    audit: ledgerSql(env.AUDIT),
    backends: backendsWith({ variables, loopback, log: logLine, fetch: (url, init) => fetch(url, init) }),
    // Not awaited: within one synchronous step the platform commits the alarm together with the rows it belongs to.
    alarm: { set: (at) => void storage.setAlarm(at), get: () => storage.getAlarm() },
    queue: { send: (messages) => upstream.run(() => sendAll(env.QUEUE, messages), sendLimits(now())) },
    upstream,
    tools,
    config,
    now,
    random: (bytes) => hex(crypto.getRandomValues(new Uint8Array(bytes))),
    sleep,
    log: logLine,
  };
}

const sqlOf = (storage: DurableObjectStorage): SessionSql => ({
  all: (sql, ...params) => storage.sql.exec<Record<string, string | number | null>>(sql, ...params).toArray(),
  transaction: (run) => storage.transactionSync(run),
});

async function sendAll(queue: Queue, messages: QueueMessage[]): Promise<void> {
  await queue.sendBatch(messages.map((body) => ({ body })));
}

function sleep(ms: number, stop: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    stop.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
