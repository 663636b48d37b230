/** From the ledger's row to the end of a record. The row decides; what was refused, guessed or thrown on the way does not. */
import type { Refusal } from '../outcome.ts';
import { UNREACHED, UNSETTLED, codeOf } from '../outcome.ts';
import type { EffectRecord, LedgerRow } from '../ports.ts';
import type { Tool } from '../tool/define-tool.ts';
import type { EndingFacts, Gate, Refused, Stage } from './gate.ts';
import { doneVerdict } from './record-verdict.ts';
import { toolCode } from './stages/5-business-rules.ts';
import { voidAttempt } from './stages/8-execute.ts';

/** What an ending says besides who caused it. */
export type Unattributed = EndingFacts & { stage: Stage };

/**
 * `row` null: unknown; the record keeps its state and its amount stays reserved. `definition` undefined: the tool is gone.
 * Stage 8 decided, unless the row is the void that `because` asked for.
 */
export function endingOf(
  row: LedgerRow | null,
  record: EffectRecord,
  definition: Tool | undefined,
  because?: Refused,
): Unattributed {
  const shared = { record, key: record.key, contract: record.contract, stage: 8 } as const;
  if (row === null) return { ...shared, verdict: { ok: false, refusal: UNSETTLED } };
  if (row.applied) {
    const change = { to: 'executed', record, answer: row.answer } as const;
    return { ...shared, change, verdict: doneVerdict(row.answer, false) };
  }
  const { refusal, stage } =
    because !== undefined && codeOf(because.refusal) === row.code
      ? because
      : { refusal: refusalOfVoid(row, definition), stage: shared.stage };
  return { ...shared, stage, change: { to: 'failed', record, refusal, voided: true }, verdict: { ok: false, refusal } };
}

/** Voids an attempt that may have been sent, because a refusal stands against it; it was executed if the void lost. */
export async function voidOpen(
  record: EffectRecord,
  because: Refused,
  definition: Tool | undefined,
  gate: Gate,
): Promise<Unattributed> {
  return endingOf(await voidAttempt(record, codeOf(because.refusal), gate), record, definition, because);
}

/** The gate's own codes with which a void is written in D1. */
const VOIDING_CODES = ['CALLER_REVOKED', 'PAUSED', 'SESSION_ENDED', 'SUBJECT_BUSY', 'SETTLED_NOT_APPLIED'] as const;

function refusalOfVoid(row: Extract<LedgerRow, { applied: false }>, definition: Tool | undefined): Refusal {
  const own = VOIDING_CODES.find((code) => code === row.code);
  if (own !== undefined) return { code: own };
  if (definition?.codes.includes(row.code) === true) return toolCode(definition, row.code, row.facts);
  return UNREACHED;
}
