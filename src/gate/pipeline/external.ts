/**
 * An effect in another system (docs/specification.md#effects-in-other-systems): opened in D1's journal, marked in the
 * session, sent, and settled by the answer, a look-up, a resend or an operator. An attempt that may have left is settled and
 * never judged again: its own effect would change what the checks see. Whoever calls these holds the record's key.
 */
import { digestOf } from '../backends/backend.ts';
import { UNREACHED, codeOf, type Refusal } from '../outcome.ts';
import type { Answer, Attempt, AttemptToOpen, EffectRecord, ExternalEffect, FinalAnswer, LedgerRow } from '../ports.ts';
import type { ExternalRecipe } from '../tool/external.ts';
import type { Gate } from './gate.ts';

/** After this an approved action is not sent for the first time, and no unknown is sent again. */
export const HOUR_MS = 60 * 60 * 1000;
const MAX_SENDS = 20;
const D1_TRY_MS = 5_000;
const LOOKUP_TRY_MS = 5_000;

/** One go at an attempt, until `deadline` (ms since the epoch). `ordered`: an operator's resend passes a revocation and a pause. */
export type Run = { gate: Gate; attempt: Attempt; deadline: number };
type Sending = Run & { recipe: ExternalRecipe; ordered?: boolean };

/** Whether an attempt may have left, or must not leave any more. */
export const mayHaveLeft = ({ external }: EffectRecord): boolean =>
  external !== null && (external.sends > 0 || external.final !== null);

/** The claimed or approved attempt's first send, and where it brings no final answer one look-up or resend. Null: unknown. */
export async function sendExternal(record: EffectRecord, run: Sending): Promise<LedgerRow | null> {
  const sent = await openAndSend(record, run);
  if (sent.row !== null || !sent.left) return sent.row;
  return settle(run.gate.records.reread(record), { ...run, resends: !sent.answered });
}

/**
 * Settles an attempt that may have left: by what is known, by a look-up, else by the same bytes again. Null: unknown. Where
 * the tool has left the registry only what is known already is written.
 */
export async function settleExternal(record: EffectRecord, run: Run): Promise<LedgerRow | null> {
  if (externalOf(record).final !== null) return close(record, run);
  const recipe = run.gate.tools.get(record.tool)?.external ?? null;
  return recipe && settle(record, { ...run, recipe, resends: true });
}

/** Sends again because an operator ordered it, without a look-up first. */
export const resendExternal = async (record: EffectRecord, run: Sending): Promise<LedgerRow | null> =>
  (await openAndSend(record, { ...run, ordered: true })).row;

async function settle(record: EffectRecord, run: Sending & { resends: boolean }): Promise<LedgerRow | null> {
  const { gate, recipe } = run;
  const external = externalOf(record);
  if (gate.kit.backends.place(recipe.backend) !== external.place) return null;
  if (recipe.lagMs !== null) {
    const issued = gate.now();
    const found = await lookUp(record, run);
    if (found === null) return null;
    if (found !== 'absent') return settleAs(record, found, run);
    // A request that left may still be executed until it has been quiet, and a look-up may lag behind by `lagMs`.
    const { last_send_at } = externalOf(gate.records.reread(record));
    const isProven = issued >= (last_send_at ?? 0) + recipe.backend.quietMs + recipe.lagMs;
    if (!isResendable(gate.records.reread(record), gate, recipe))
      return isProven ? settleAs(record, voidBecause(UNREACHED), run) : null;
  }
  const now = gate.records.reread(record);
  return run.resends && isResendable(now, gate, recipe) ? (await openAndSend(now, run)).row : null;
}

/** What became of a try to send. `left`: the request left; `answered`: the backend said something, final or not. */
type Sent = { row: LedgerRow | null; left: boolean; answered: boolean };
const notSent = (row: LedgerRow | null): Sent => ({ row, left: false, answered: false });

async function openAndSend(record: EffectRecord, run: Sending): Promise<Sent> {
  const { gate, recipe } = run;
  const opened = await onD1(run, () => gate.journal.open(attemptToOpen(record, run)));
  if (opened === null || opened === 'waits') return notSent(null);
  if (typeof opened === 'object') return notSent(opened);
  const now = gate.records.reread(record);
  if (opened === 'held') {
    const isFirst = externalOf(now).sends === 0 && externalOf(now).final === null;
    return notSent(isFirst ? await settleAs(now, voidBecause({ code: 'CALLER_REVOKED' }), run) : null);
  }
  // From here to the mark nothing is awaited: what the journal's await may have outlived is read again.
  const stop = stopOf(now, run);
  if (stop !== null) return notSent(stop === 'stay' ? null : await settleAs(now, stop, run));
  const isAlone = wasAlone(now, recipe, gate.now());
  const marked = gate.markSent(now);
  const answer = await transmit(marked, run);
  const read = answer && readSafely(run, () => recipe.readSend(answer, marked.input, marked.seen));
  const isFinal = read !== null && (read.applied || recipe.backend.refusals === 'kept' || isAlone);
  return { row: isFinal ? await settleAs(marked, read, run) : null, left: true, answered: answer !== null };
}

/** A refusal speaks for this send alone, unless it is kept under the key: an earlier send may yet be executed. */
function wasAlone(before: EffectRecord, { backend }: ExternalRecipe, now: number): boolean {
  const { sends, last_send_at } = externalOf(before);
  return sends === 0 || now >= (last_send_at ?? 0) + backend.quietMs;
}

/** Why the request does not leave: a void where nothing has left before, else `stay`: it stays unknown. */
function stopOf(record: EffectRecord, { gate, recipe, ordered = false }: Sending): FinalAnswer | 'stay' | null {
  const { sends, final, place } = externalOf(record);
  if (final !== null) return final;
  const unsent = (refusal: Refusal): FinalAnswer | 'stay' => (sends === 0 ? voidBecause(refusal) : 'stay');
  const { live } = gate.scope();
  if (live === 'revoked' && !ordered) return unsent({ code: 'CALLER_REVOKED' });
  // A person's approval of an action stands when the conversation that asked for it is over.
  if (live === 'ended' && sends === 0 && record.approval === null) return voidBecause({ code: 'SESSION_ENDED' });
  if (gate.kit.backends.place(recipe.backend) !== place) return unsent(UNREACHED);
  if (sends > 0) return isInWindow(record, recipe, gate.now(), ordered) ? null : 'stay';
  return isLate(record, gate.now()) ? voidBecause(UNREACHED) : null;
}

/** Whether the hour of an approved action is over. */
export const isLate = ({ approval }: EffectRecord, now: number): boolean =>
  approval?.decided_at != null && now > approval.decided_at + HOUR_MS;

function isResendable(record: EffectRecord, gate: Pick<Gate, 'now' | 'scope'>, recipe: ExternalRecipe): boolean {
  const { sends, final } = externalOf(record);
  if (recipe.backend.key === null || final !== null || sends >= MAX_SENDS) return false;
  return gate.scope().live !== 'revoked' && isInWindow(record, recipe, gate.now(), false);
}

/**
 * Resends end an hour after the first send or the decision, and for everybody so long before the backend may forget the
 * key that the last of them is still recognised.
 */
function isInWindow(record: EffectRecord, { backend }: ExternalRecipe, now: number, ordered: boolean): boolean {
  const first = externalOf(record).first_send_at ?? now;
  const kept = first + backend.keepMs - backend.quietMs;
  return now < (ordered ? kept : Math.min(kept, first + HOUR_MS, (record.approval?.decided_at ?? first) + HOUR_MS));
}

/** Why an operator cannot have an attempt sent again; null where they can. */
export function resendRefusal(
  record: EffectRecord,
  recipe: ExternalRecipe | null,
  { kit, now }: Pick<Gate, 'kit' | 'now'>,
): 'no_key' | 'too_late' | 'other_account' | 'tool_gone' | null {
  if (recipe === null) return 'tool_gone';
  if (recipe.backend.key === null) return 'no_key';
  if (kit.backends.place(recipe.backend) !== externalOf(record).place) return 'other_account';
  return isInWindow(record, recipe, now(), true) ? null : 'too_late';
}

/** Whether an open record needs no operator: the gate may look the effect up, or send the same bytes again. */
export function settlesItself(record: EffectRecord, gate: Pick<Gate, 'tools' | 'kit' | 'now' | 'scope'>): boolean {
  if (record.external === null || !mayHaveLeft(record) || record.external.final !== null) return true;
  const recipe = gate.tools.get(record.tool)?.external ?? null;
  if (recipe === null || gate.kit.backends.place(recipe.backend) !== record.external.place) return false;
  return recipe.lagMs !== null || isResendable(record, gate, recipe);
}

async function transmit(record: EffectRecord, { gate, recipe, attempt, deadline }: Sending): Promise<Answer | null> {
  const { outgoing } = externalOf(record);
  const { backend } = recipe;
  try {
    return await gate.upstream.run((signal) => gate.kit.backends.send(backend, outgoing, attempt.effect_key, signal), {
      tryMs: backend.tryMs,
      deadline,
      once: true,
    });
  } catch (error) {
    gate.report(gate.newId('err'), error);
    return null;
  }
}

/** Null: the look-up itself did not answer, or not in a way that says anything. */
async function lookUp(record: EffectRecord, run: Sending): Promise<FinalAnswer | 'absent' | null> {
  const { gate, recipe, attempt, deadline } = run;
  const { input, seen } = record;
  try {
    const answer = await gate.upstream.run(
      (signal) => gate.kit.backends.api(recipe.backend, signal).get(recipe.lookupPath(input, attempt.effect_key, seen)),
      { tryMs: LOOKUP_TRY_MS, deadline, once: true },
    );
    return readSafely(run, () => recipe.readLookup(answer, attempt.effect_key, input, seen));
  } catch (error) {
    gate.report(gate.newId('err'), error);
    return null;
  }
}

/** A tool's reader that throws says nothing about the effect. */
function readSafely<Read>({ gate }: Run, read: () => Read): Read | null {
  try {
    return read();
  } catch (error) {
    gate.report(gate.newId('err'), error);
    return null;
  }
}

const voidBecause = (refusal: Refusal): FinalAnswer => ({ applied: false, code: codeOf(refusal), facts: {} });

/** The session knows first: after a void is noted nothing of the attempt leaves, whatever becomes of the ledger's answer. */
export async function settleAs(record: EffectRecord, final: FinalAnswer, run: Run): Promise<LedgerRow | null> {
  const now = run.gate.records.reread(record);
  return close(externalOf(now).final === null ? run.gate.noteFinal(now, final) : now, run);
}

async function close(record: EffectRecord, run: Run): Promise<LedgerRow | null> {
  const { final, sends, outgoing } = externalOf(record);
  if (final === null) throw new Error('an attempt is closed by its final answer');
  const attempt = { ...run.attempt, digest: digestOf(outgoing), sends };
  return onD1(run, () => run.gate.journal.close(attempt, final, sends === 0 ? {} : record.input));
}

async function onD1<Row>({ gate, deadline }: Run, work: () => Promise<Row>): Promise<Row | null> {
  try {
    return await gate.upstream.run(work, { tryMs: D1_TRY_MS, deadline });
  } catch (error) {
    gate.report(gate.newId('err'), error);
    return null;
  }
}

function attemptToOpen(record: EffectRecord, { gate, recipe, attempt, ordered = false }: Sending): AttemptToOpen {
  const { session_id, customer_id } = gate.scope();
  const { outgoing, place } = externalOf(record);
  return {
    ...attempt,
    ...{ session_id, customer_id, place, ordered },
    digest: digestOf(outgoing),
    ceiling: recipe.ceiling(record.seen),
    waits: record.approval !== null,
  };
}

function externalOf({ external }: EffectRecord): ExternalEffect {
  if (external === null) throw new Error('the effect of this record is in the ledger');
  return external;
}
