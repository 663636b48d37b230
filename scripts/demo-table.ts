/** Prints what happened so that a stranger understands it: what the model proposed, what the gate said, what the ledger did. */
import { GATE_CODES, STAGES } from '../src/gate/http/docs/codes.ts';
import type { Scene } from './demo-script.ts';

/** `fromRecord`: the record of an earlier, equal call answered. */
export type Told = { code: string; replayed: boolean; fromRecord: boolean };

const STAGES_OF = new Map<string, readonly number[]>(
  Object.entries(GATE_CODES).map(([code, { stages }]) => [code, stages]),
);
const BUSINESS_RULES = 5;
const EXECUTE = 8;

/** A code of the tool's own is its rules'; of the stages that share a code, this script meets the last. */
function stageOf(code: string): string {
  const stage = code === 'OK' ? EXECUTE : (STAGES_OF.get(code)?.at(-1) ?? BUSINESS_RULES);
  return `${stage} ${STAGES[stage] ?? ''}`;
}

const WIDTHS = [3, 58, 18, 22] as const;

const line = (...cells: string[]): string =>
  cells
    .map((cell, place) => cell.padEnd(WIDTHS[place] ?? 0))
    .join('  ')
    .trimEnd();

/** `mover`: whose books the last column tells of. */
export const tableHead = (mover = 'the ledger'): string =>
  `${line('#', 'the model', 'the stage', 'the code', mover)}\n${'─'.repeat(124)}`;

export function tableRow(number: number, { says, tool, arguments: args }: Scene, told: Told, ledger: string): string {
  const stage = told.fromRecord ? '4 idempotency' : stageOf(told.code);
  const code = told.replayed ? `${told.code} (replay)` : told.code;
  return `${line(String(number), says, stage, code, ledger)}\n${line('', `  ${tool} ${compact(args)}`)}`;
}

export const personRow = (says: string, ledger: string): string => line('', `► ${says}`, '', '', ledger);

const compact = (args: Record<string, unknown>): string => {
  const text = Object.values(args).join(' ');
  return text.length > 54 ? `${text.slice(0, 53)}…` : text;
};
