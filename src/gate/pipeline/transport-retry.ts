/**
 * The same `call_id` with the same tool and equal arguments is the host asking again after one call, not a new call: it
 * takes no step, leaves no row of its own and changes nothing. It joins the first while that runs, else it reports.
 */
import { codeOf } from '../outcome.ts';
import type { EffectRecord } from '../ports.ts';
import { expire } from './stored-actions.ts';
import type { RawCall } from './calls.ts';
import { originOf } from './calls.ts';
import type { Earlier, Gate, Settled } from './gate.ts';
import { judgeEffect } from './pipeline.ts';
import { verdictOf } from './record-verdict.ts';
import { isJudgement } from './stages/5-business-rules.ts';

const MAX_RETRIES = 10;

/** Null: this is a new call. */
export function transportRetry(raw: RawCall, gate: Gate): Promise<Settled> | 'too_many' | null {
  const earlier = gate.earlier(raw.call_id);
  if (earlier === null || earlier.fingerprint !== raw.fingerprint) return null;
  if (earlier.kind === 'settled' && isNewCall(raw, earlier.settled, earlier.record, gate)) return null;
  return gate.countRetry(raw.call_id) > MAX_RETRIES ? 'too_many' : answer(raw, earlier, gate);
}

/**
 * A read may answer differently by now, also one whose tool has left the registry (its answer is not kept); a call that
 * could not be judged and left no record was never answered.
 */
function isNewCall(raw: RawCall, { verdict }: Settled, record: EffectRecord | null, gate: Gate): boolean {
  if (gate.tools.get(raw.tool)?.effect === 'none') return true;
  return record === null && (verdict.ok || !isJudgement(verdict.refusal));
}

async function answer(raw: RawCall, earlier: Earlier, gate: Gate): Promise<Settled> {
  switch (earlier.kind) {
    case 'running':
      return replayed(await earlier.settled);
    case 'settled':
      return replayed({ ...earlier.settled, verdict: presentTruth(earlier.settled, recordNow(earlier.record, gate)) });
    case 'unanswered':
      return answerAtLast(raw, earlier.record, gate);
  }
}

/** A pending action past its time is expired by whoever meets it first, also by a host that only asks. */
const recordNow = (record: EffectRecord | null, gate: Gate): EffectRecord | null =>
  record !== null && expire(record, 'session', gate) ? gate.records.reread(record) : record;

/** What a first answer left open is told as it is now; everything else as it was. */
function presentTruth({ verdict }: Settled, record: EffectRecord | null): Settled['verdict'] {
  if (record === null) return verdict;
  if (verdict.ok) return verdictOf(record);
  const code = codeOf(verdict.refusal);
  return code === 'CONFIRMATION_REQUIRED' || code === 'UPSTREAM_UNAVAILABLE' ? verdictOf(record) : verdict;
}

const replayed = (settled: Settled): Settled => ({ ...settled, verdict: { ...settled.verdict, replayed: true } });

/** The first died with its claim: this is the same call, with its step, and it leaves the one row. */
async function answerAtLast(raw: RawCall, record: EffectRecord, gate: Gate): Promise<Settled> {
  const { key, contract, step, call_id, fingerprint, attempt } = record;
  const origin = originOf({ ...raw, step });
  // Its first count died with the object.
  gate.countCall(key, 'keyed');
  while (gate.isRunning(key)) await gate.whenFree(key);
  const now = gate.records.reread(record);
  const definition = gate.tools.get(record.tool);
  const valid = definition?.bind(record.input);
  if (now.state !== 'claimed' || definition === undefined || valid?.ok !== true || valid.bound.effect === 'none')
    return gate.settle({ origin, stage: 4, key, contract, record: now, verdict: verdictOf(now) });
  const release = gate.occupy(key);
  try {
    const { started_at } = raw;
    const call = { key, step, call_id, fingerprint, attempt, started_at, origin, definition };
    return await judgeEffect({ ...call, bound: valid.bound, open: now, approval: null, repeated: false }, gate);
  } finally {
    release();
  }
}
