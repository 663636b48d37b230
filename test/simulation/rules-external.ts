/** What must be so when a request leaves for another system, when that system acts, and when all has come to rest. */
import { effectKeyOf } from '../../src/gate/pipeline/effect-key.ts';
import { wireKey } from '../../src/gate/backends/backend.ts';
import type { Backend, BackendWitness, Executed } from './backend.ts';
import { CLASSES, type Elsewhere } from './elsewhere.ts';
import type { Attempt, Held, SessionFacts } from './facts.ts';
import type { Ledger } from './ledger.ts';
import type { Model } from './model.ts';

type Sent = { count: number; body: string; firstAt: number };

const HOUR_MS = 60 * 60_000;
type Found = { session: SessionFacts; held: Held; effectKey: string };

/** Watches one world. `ledger` is given once it stands. */
export class ExternalRules implements BackendWitness {
  readonly #model: Model;
  readonly #sent = new Map<string, Sent>();
  readonly #executed = new Map<string, Executed>();
  ledger: Ledger | null = null;

  constructor(model: Model) {
    this.#model = model;
  }

  leaves(tool: Elsewhere, reference: string, body: string): void {
    const model = this.#model;
    const before = this.#sent.get(reference);
    const firstAt = before?.firstAt ?? model.wall;
    this.#sent.set(reference, { count: (before?.count ?? 0) + 1, body, firstAt });
    if (model.wall > firstAt + HOUR_MS + 60_000) model.fail('P11-sent-after-its-hour', reference);
    if (before !== undefined && before.body !== body) model.fail('P6-other-bytes', reference);
    if (before !== undefined && !CLASSES[tool].key) model.fail('sent-twice-without-a-key', reference);
    const found = this.#find(reference);
    if (found === null) return model.fail('sent-without-record', reference);
    const { held, session, effectKey } = found;
    if (held.state !== 'claimed' && held.state !== 'approved')
      model.fail('P2-sent-after-its-end', `${held.intent} is ${held.state}`);
    if (this.#rowOf(held)?.applied === false) model.fail('P2-sent-after-void', held.intent);
    if (this.ledger?.database.all('SELECT 1 FROM open_sends WHERE effect_key = ?', [effectKey]).length === 0)
      model.fail('P7-sent-without-journal', held.intent);
    if (model.callers.get(session.caller_id)?.revocationTold === true)
      model.fail('P8-sent-after-revocation', held.intent);
  }

  refused(orderId: string): void {
    const order = this.#model.orders.get(orderId);
    if (order !== undefined) order.refused = true;
  }

  executed(effect: Executed, refunded: number): void {
    const model = this.#model;
    const { reference, order_id, amount } = effect;
    const order = model.orders.get(order_id);
    if (order !== undefined) {
      order.was.push({ since: model.elapsed, left: order.total - refunded, paid_back: refunded });
      if (refunded > order.total) model.fail('P10-beyond-the-total', `${order_id}: ${refunded} of ${order.total}`);
    }
    if (this.#executed.has(reference)) model.fail('P1-executed-twice', reference);
    this.#executed.set(reference, effect);
    this.#checkAlone(effect);
    const found = this.#find(reference);
    if (found === null) return model.fail('executed-without-record', reference);
    const { held, session } = found;
    if (held.state === 'failed' || this.#rowOf(held)?.applied === false)
      model.fail('P2-executed-after-void', held.intent);
    if (!held.intent.startsWith(`${session.uid} ${order_id} ${amount} `)) model.fail('P6-other-arguments', held.intent);
    if (held.approval_id !== null && model.approval(held.approval_id).approves.length === 0)
      model.fail('P6-executed-without-approval', held.intent);
    this.#checkOnce(held, session);
  }

  /** While an effect of a subject is unknown, nothing else of it is done. */
  #checkAlone({ reference, order_id }: Executed): void {
    const open = this.ledger?.database.all('SELECT effect_key FROM open_sends WHERE subject = ?', [order_id]) ?? [];
    const own = this.#find(reference)?.effectKey;
    if (own !== undefined && open.some(({ effect_key }) => effect_key !== own))
      this.#model.fail('P7-two-of-one-subject', order_id);
  }

  /** What a person approved waits for a subject that is busy. */
  voided({ code, uid, call_key, attempt, intent }: Attempt): void {
    const records = [...(this.#model.sessions.get(uid)?.records.values() ?? [])];
    const isApproved = records.some(
      (held) => held.key === call_key && held.attempt === attempt && held.state === 'approved',
    );
    if (code === 'SUBJECT_BUSY' && isApproved) this.#model.fail('approved-voided-as-busy', intent);
  }

  /** Only under "ask" is an intent executed again, and then each time with an approval of its own. */
  #checkOnce(held: Held, session: SessionFacts): void {
    const same = [...session.records.values()].filter(
      (other) => other.intent === held.intent && this.#executed.has(referenceOf(other)),
    );
    const attempts = new Set(same.map(({ attempt }) => attempt));
    if (attempts.size <= 1) return;
    const mayAsk = this.#model.callers
      .get(session.caller_id)
      ?.versions.some(({ policy }) => policy.identical_effects === 'ask');
    if (mayAsk !== true) this.#model.fail('P1-intent-executed-twice', held.intent);
  }

  #find(reference: string): Found | null {
    for (const session of this.#model.sessions.values())
      for (const held of session.records.values())
        if (held.state !== 'pending' && referenceOf(held) === reference)
          return { session, held: this.#latest(session, held), effectKey: effectKeyOf(held) };
    return null;
  }

  /** An attempt that was never sent serves again in a later round. */
  #latest = (session: SessionFacts, { key, attempt }: Held): Held =>
    [...session.records.values()]
      .filter((other) => other.key === key && other.attempt === attempt && other.state !== 'pending')
      .toSorted((a, b) => a.round - b.round)
      .at(-1) as Held;

  #rowOf = ({ key, attempt }: Held) => this.#model.attempts.get(`${key} ${attempt}`);

  /** The books of the backend and of the ledger agree, but for what waits for an operator and says so. */
  checkEnd({ effects }: Backend): void {
    const model = this.#model;
    for (const { reference } of effects) {
      const found = this.#find(reference);
      if (found === null || this.#waits(found)) continue;
      if (this.#rowOf(found.held)?.applied !== true) model.fail('P3-executed-but-not-in-the-ledger', found.held.intent);
    }
    const waiting = [...model.sessions.values()].flatMap(({ records }) =>
      [...records.values()].filter((held) => held.state !== 'pending' && this.mayWait(held)).map(effectKeyOf),
    );
    for (const { effect_key } of this.ledger?.database.all('SELECT effect_key FROM open_sends') ?? [])
      if (!waiting.includes(String(effect_key))) model.fail('P9-open-row-left', String(effect_key));
    for (const session of model.sessions.values())
      for (const held of session.records.values()) {
        const isOurs = model.orders.get(held.intent.split(' ')[1] ?? '')?.tool !== undefined;
        if (isOurs && held.state === 'executed' && !this.#executed.has(referenceOf(held)))
          model.fail('P5-told-done-but-not', held.intent);
      }
  }

  /** Open in the end: an operator must settle it, and D1 lists it. */
  mayWait(held: Held): boolean {
    const tool = this.#model.orders.get(held.intent.split(' ')[1] ?? '')?.tool;
    if (tool === undefined || CLASSES[tool].lookup) return false;
    if (!this.#sent.has(referenceOf(held)) || (held.state !== 'claimed' && held.state !== 'approved')) return false;
    const rows = this.ledger?.database.all('SELECT 1 FROM open_sends WHERE effect_key = ?', [effectKeyOf(held)]) ?? [];
    return rows.length === 1;
  }

  #waits = ({ held }: Found): boolean => (held.state === 'claimed' || held.state === 'approved') && this.mayWait(held);
}

const referenceOf = (held: Held): string => wireKey(effectKeyOf(held), null);
