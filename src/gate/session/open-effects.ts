/** Effects in other systems that may be under way, and what an operator orders about them. */
import { effectKeyOf } from '../pipeline/effect-key.ts';
import { resendExternal, resendRefusal, settlesItself } from '../pipeline/external.ts';
import type { Origin } from '../pipeline/gate.ts';
import { endingOf } from '../pipeline/settlement.ts';
import { runOf, settleSentAs } from '../pipeline/stages/8-execute.ts';
import type { EffectRecord, ExternalEffect, FinalAnswer, LedgerRow, OpenState } from '../ports.ts';
import { openRecords } from './records.ts';
import type { OpenEffect, OrderAnswer, SettleOrder } from './rpc.ts';
import type { SessionGate } from './session-gate.ts';
import type { OwnPorts } from './session-tables.ts';
import { hasTables } from './schema.ts';

/** Of a tool that has left the registry nobody knows how long its requests may take. */
const QUIET_OF_UNKNOWN_MS = 24 * 60 * 60 * 1000;

type Open = EffectRecord & { external: ExternalEffect };

export class OpenEffects {
  readonly #ports: OwnPorts;
  readonly #gate: SessionGate;

  constructor(ports: OwnPorts, gate: SessionGate) {
    [this.#ports, this.#gate] = [ports, gate];
  }

  list = (): OpenEffect[] =>
    this.#open().map((record) => ({
      effect_key: effectKeyOf(record),
      state: this.#stateOf(record),
      sends: record.external.sends,
      last_send_at: record.external.last_send_at,
      may_void_at: this.#mayVoidAt(record),
    }));

  /** Settles an effect as the operator found it. The session notes it first, as it does every final answer. */
  settle(effectKey: string, order: SettleOrder, requestId: string): Promise<OrderAnswer> {
    return this.#order(effectKey, async (record) => {
      const mayVoidAt = this.#mayVoidAt(record) ?? 0;
      if (!order.applied && this.#ports.now() < mayVoidAt) return { refused: 'too_early', may_void_at: mayVoidAt };
      const field = order.applied && order.answer && this.#ports.tools.get(record.tool)?.misfit(order.answer);
      if (typeof field === 'string') return { refused: 'misfit', field };
      const final: FinalAnswer = order.applied
        ? { applied: true, external_id: order.external_id, answer: order.answer ?? null }
        : { applied: false, code: 'SETTLED_NOT_APPLIED', facts: {} };
      return this.#end(await settleSentAs(record, final, this.#gate), record, requestId);
    });
  }

  /** Sends the same request once more, also after a revocation and under a pause. */
  resend(effectKey: string, requestId: string): Promise<OrderAnswer> {
    return this.#order(effectKey, async (record) => {
      const recipe = this.#ports.tools.get(record.tool)?.external ?? null;
      const why = resendRefusal(record, recipe, this.#gate);
      if (recipe === null || why !== null) return { refused: 'not_resendable', why: why ?? 'tool_gone' };
      const run = { ...runOf(record, this.#ports.now(), this.#gate), recipe };
      return this.#end(await resendExternal(record, run), record, requestId);
    });
  }

  /** Waits while the key runs, then holds it: calls, decisions, the alarm and orders exclude one another. */
  async #order(effectKey: string, act: (record: Open) => Promise<OrderAnswer>): Promise<OrderAnswer> {
    const named = this.#find(effectKey);
    if (named === undefined) return { refused: 'not_found' };
    while (this.#gate.isRunning(named.key)) await this.#gate.whenFree(named.key);
    const record = this.#find(effectKey);
    if (record === undefined || record.external.final !== null) return { refused: 'already_answered' };
    const release = this.#gate.occupy(record.key);
    try {
      return await act(record);
    } finally {
      release();
    }
  }

  /** Writes what came of an order; without a row of the ledger the record stays open. */
  #end(row: LedgerRow | null, record: Open, request_id: string): OrderAnswer {
    if (row === null) {
      const now = this.#gate.records.reread(record) as Open;
      return { state: now.external.final === null ? this.#stateAtRest(now) : 'answered' };
    }
    const origin: Origin = { kind: 'event', actor: 'operator', record, request_id };
    this.#gate.settle({ ...endingOf(row, record, this.#ports.tools.get(record.tool)), origin });
    return { state: row.applied ? 'executed' : 'failed' };
  }

  #open = (): Open[] =>
    hasTables(this.#ports.sql)
      ? openRecords(this.#ports.sql).filter((record): record is Open => record.external !== null)
      : [];

  #find = (effectKey: string): Open | undefined => this.#open().find((record) => effectKeyOf(record) === effectKey);

  #stateOf(record: Open): OpenState {
    const { sends, final } = record.external;
    if (final !== null) return 'answered';
    if (sends === 0) return 'opening';
    return this.#gate.isRunning(record.key) ? 'sending' : this.#stateAtRest(record);
  }

  #stateAtRest = (record: Open): OpenState => (settlesItself(record, this.#gate) ? 'settling' : 'waiting');

  #mayVoidAt(record: Open): number | null {
    const { last_send_at } = record.external;
    const quietMs = this.#ports.tools.get(record.tool)?.external?.backend.quietMs ?? QUIET_OF_UNKNOWN_MS;
    return last_send_at === null ? null : last_send_at + quietMs;
  }
}
