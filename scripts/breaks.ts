/** What the verifier finds wrong, and how it says so: every place, under a heading that says what it means and what to do. */

/** `seq` is null where no single row is wrong; all but `problem` are null where no session is. */
export type Break = {
  kind: BreakKind;
  caller_id: string | null;
  session_id: string | null;
  uid: string | null;
  seq: number | null;
  problem: string;
};

const HEADINGS = {
  missing:
    'Rows are missing from the audit. They were deleted, or the database was restored to an earlier moment. Rows that are on their way arrive within five minutes of an outage: then verify again. The session objects have the others until they are forgotten.',
  changed:
    'Rows were changed after they were written. The session objects have what was written; find out who can write to the database of the audit.',
  unknown:
    'Rows or chains that their session objects do not know. They were added or rewritten, or an object was set back. The objects, and what hosts kept of Toolgate-Audit, are the evidence.',
  arguments: 'Arguments are not those that were hashed. The database of the audit was written to by somebody else.',
  effect:
    'The audit and the ledger do not have the same effects. An effect without a row was not made by the gate; a row without an effect lost it. Compare with the system that pays out before anything else is refunded.',
  figures:
    'The ledger has other figures than were applied and answered. The audit proves that the row of the ledger was changed afterwards.',
  total:
    'A total is not the sum of what was applied. What may still be applied to these subjects is computed from it: pause, and correct it.',
  approval:
    'Decisions and the list of approvals do not agree. The audit proves who decided and what they were shown; the list was changed afterwards.',
  evidence:
    'Evidence from outside the database is not in the chains. Rows or whole sessions were removed or rewritten.',
  unreadable: 'This could not be read, so nothing is said about it. Verify again.',
} as const;
export type BreakKind = keyof typeof HEADINGS;

/** Whether something is wrong, rather than unread. */
export const isWrong = ({ kind }: Break): boolean => kind !== 'unreadable';

/** All of it, grouped, one line each. */
export function reportOf(breaks: readonly Break[]): string {
  const groups = Object.entries(HEADINGS).flatMap(([kind, heading]) => {
    const found = breaks.filter((each) => each.kind === kind);
    return found.length === 0 ? [] : [`${heading}\n${found.map((each) => `  ${lineOf(each)}\n`).join('')}`];
  });
  return groups.join('\n');
}

function lineOf({ caller_id, session_id, uid, seq, problem }: Break): string {
  if (uid === null) return `${problem}.`;
  const session = `session ${session_id ?? '(unknown)'} of caller ${caller_id ?? '(unknown)'}, uid ${uid}`;
  return seq === null ? `${session}: ${problem}.` : `${session}: row ${seq} ${problem}.`;
}
