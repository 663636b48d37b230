/** Prints what happened so that a stranger understands it: what the model proposed, what the gate said, what the ledger did. */
import type { Scene } from './demo-script.ts';

/** `fromRecord`: the record of an earlier, equal call answered. */
export type Told = { code: string; replayed: boolean; fromRecord: boolean };

/** The stage that decides with each code, by the specification's table. */
const STAGES: Readonly<Record<string, string>> = {
  OK: '8 execute',
  STEP_LIMIT: '0 step budget',
  UNKNOWN_TOOL: '1 resolve',
  INVALID_JSON: '2 parse',
  INVALID_ARGUMENTS: '3 schema',
  LOOP_DETECTED: '4 idempotency',
  ORDER_NOT_FOUND: '5 business rules',
  POLICY_LIMIT: '6 policy',
  CONFIRMATION_REQUIRED: '7 confirmation',
  UPSTREAM_UNAVAILABLE: '8 execute',
};

const WIDTHS = [3, 58, 18, 22] as const;

const line = (...cells: string[]): string =>
  cells
    .map((cell, place) => cell.padEnd(WIDTHS[place] ?? 0))
    .join('  ')
    .trimEnd();

export const tableHead = (): string =>
  `${line('#', 'the model', 'the stage', 'the code', 'the ledger')}\n${'─'.repeat(124)}`;

export function tableRow(number: number, { says, tool, arguments: args }: Scene, told: Told, ledger: string): string {
  const stage = told.fromRecord ? '4 idempotency' : (STAGES[told.code] ?? '');
  const code = told.replayed ? `${told.code} (replay)` : told.code;
  return `${line(String(number), says, stage, code, ledger)}\n${line('', `  ${tool} ${compact(args)}`)}`;
}

export const personRow = (says: string, ledger: string): string => line('', `► ${says}`, '', '', ledger);

const compact = (args: Record<string, unknown>): string => {
  const text = Object.values(args).join(' ');
  return text.length > 54 ? `${text.slice(0, 53)}…` : text;
};
