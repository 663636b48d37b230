/**
 * The gate: nine stages in the order of the specification, each an explicit call. A call that fails two of them gets
 * the earlier code, and nothing behind a failed stage runs. Who may ask at all was decided before it came here.
 */
import { UNREACHED } from '../outcome.ts';
import type { EffectRecord } from '../ports.ts';
import { timestamp } from '../time.ts';
import type { CheckedCall, KeyedRead, Proposal, RawCall } from './calls.ts';
import { intentOf, originOf } from './calls.ts';
import { mayHaveLeft } from './external.ts';
import type { EndingFacts, Gate, Refused, Settled } from './gate.ts';
import { endingOf, voidOpen } from './settlement.ts';
import { takeStep, withinBudget } from './stages/0-step-budget.ts';
import { resolve } from './stages/1-resolve.ts';
import { parse } from './stages/2-parse.ts';
import { matchSchema } from './stages/3-schema.ts';
import { bindKey, consultRecord } from './stages/4-idempotency.ts';
import { businessRules, isJudgement } from './stages/5-business-rules.ts';
import { policy } from './stages/6-policy.ts';
import { confirmation } from './stages/7-confirmation.ts';
import { executeRead, sendEffect, settleSent } from './stages/8-execute.ts';

/** Judges one proposed call and settles it: exactly one audit row, whatever it was. */
export async function runCall(raw: RawCall, gate: Gate): Promise<Settled> {
  const counted = takeStep(raw, gate);
  const refuse = ({ refusal, stage }: Refused, known: Partial<EndingFacts> = {}): Settled =>
    gate.settle({ origin: originOf(counted), stage, verdict: { ok: false, refusal }, ...known });

  const budgeted = withinBudget(counted, gate);
  if (!budgeted.ok) return refuse({ ...budgeted, stage: 0 });

  const resolved = resolve(budgeted.call, gate);
  if (!resolved.ok) return refuse({ ...resolved, stage: 1 });
  const { contract } = resolved.call.definition;

  const parsed = parse(resolved.call);
  if (!parsed.ok) return refuse({ ...parsed, stage: 2 }, { contract });

  const valid = matchSchema(parsed.call);
  if (!valid.ok) return refuse({ ...valid, stage: 3 }, { contract });

  const keyed = bindKey(valid.call, gate);
  if (!keyed.ok) return refuse({ ...keyed, stage: 4 }, { contract, key: keyed.key });
  const { call } = keyed;
  const { bound } = call;
  if (bound.effect === 'none') return answerRead({ ...call, bound }, gate);

  const consulted = await consultRecord({ ...call, bound }, gate);
  if (consulted.answered) {
    const { verdict, record } = consulted;
    return gate.settle({ origin: originOf(call), stage: 4, verdict, record, contract, key: call.key });
  }
  try {
    return await judgeEffect(consulted.call, gate);
  } finally {
    consulted.release();
  }
}

/** Stage 8 for a tool without effect: what stage 5 would ask is what the read itself answers, and 6 and 7 concern effects. */
async function answerRead(call: KeyedRead, gate: Gate): Promise<Settled> {
  const { key, definition } = call;
  const verdict = await executeRead(call, gate);
  return gate.settle({ origin: originOf(call), stage: 8, key, contract: definition.contract, verdict });
}

/** Stages 5 to 8 for an effect whose key this call holds. What may have left for another system is settled, never judged again. */
export async function judgeEffect(call: Proposal, gate: Gate): Promise<Settled> {
  const { open, origin, definition } = call;
  if (open !== null && mayHaveLeft(open)) {
    const row = await settleSent(open, call.started_at, gate);
    return gate.settle({ ...endingOf(row, open, definition), origin });
  }
  const checked = await businessRules(call, gate);
  if (!checked.ok) return refuseEffect(call, { ...checked, stage: 5 }, gate);

  const permitted = policy(checked.call, gate);
  if (!permitted.ok) return refuseEffect(call, { ...permitted, stage: 6 }, gate);

  const confirmed = confirmation(permitted.call, gate);
  if (!confirmed.ok) return call.open === null ? park(permitted.call, gate) : askAnew(call, call.open, gate);

  const record = call.open ?? gate.claim(intentOf(confirmed.call));
  const row = await sendEffect(confirmed.call, record, gate);
  return gate.settle({ ...endingOf(row, record, call.definition), origin: call.origin });
}

/** An attempt that may have been sent fails only by its void; one that cannot be judged stays as it is. */
async function refuseEffect(call: Proposal, { refusal, stage }: Refused, gate: Gate): Promise<Settled> {
  const { origin, key, open, definition } = call;
  if (open === null)
    return gate.settle({ origin, stage, key, contract: definition.contract, verdict: { ok: false, refusal } });
  if (!isJudgement(refusal)) return gate.settle({ ...endingOf(null, open, definition), stage, origin });
  return gate.settle({ ...(await voidOpen(open, { refusal, stage }, definition, gate)), origin });
}

/** Stage 7's refusal: the pending action and its audit row are one write, before the answer. */
function park(call: CheckedCall, gate: Gate): Settled {
  const { origin, key, definition } = call;
  const opened_at = gate.now();
  const approval = {
    id: gate.newId('apr'),
    opened_at,
    expires_at: opened_at + gate.scope().approval_ttl_seconds * 1000,
  };
  const notice = {
    id: approval.id,
    status: 'pending',
    expires_at: timestamp(approval.expires_at),
    arguments: call.bound.input,
  } as const;
  return gate.settle({
    origin,
    stage: 7,
    key,
    contract: definition.contract,
    change: { to: 'pending', intent: intentOf(call), approval },
    verdict: { ok: false, refusal: { code: 'CONFIRMATION_REQUIRED', approval: notice } },
  });
}

/** A claim made before confirmation was due: void it, and judge the call again as new. */
async function askAnew(call: Proposal, open: EffectRecord, gate: Gate): Promise<Settled> {
  const ending = await voidOpen(open, { refusal: UNREACHED, stage: 7 }, call.definition, gate);
  if (ending.change?.to !== 'failed') return gate.settle({ ...ending, origin: call.origin });
  gate.settle({ ...ending, origin: { kind: 'event', actor: 'session', record: open, request_id: null } });
  return judgeEffect({ ...call, open: null, attempt: gate.records.nextAttempt(call.key) }, gate);
}
