/** Stage 0: every call takes one step, in the order of arrival, before anything is awaited. */
import type { RawCall, Step, SteppedCall } from '../calls.ts';
import type { Gate } from '../gate.ts';

/** Counts. A stolen or looping agent is stopped by this number even where each of its calls is harmless. */
export const takeStep = (raw: RawCall, gate: Gate): SteppedCall => ({ ...raw, step: gate.takeStep() });

export function withinBudget(call: SteppedCall, gate: Gate): Step<SteppedCall> {
  const { max_steps } = gate.scope();
  return call.step > max_steps ? { ok: false, refusal: { code: 'STEP_LIMIT', max_steps } } : { ok: true, call };
}
