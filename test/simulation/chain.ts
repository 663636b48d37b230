/** The audit chain worked out once more, from the specification's words alone. */
import { createHash } from 'node:crypto';

const UNCHAINED = new Set(['arguments', 'salt', 'hash', 'withheld']);

export function linkOf(previous: string, row: Record<string, unknown>): string {
  const kept = Object.fromEntries(Object.entries(row).filter(([name]) => !UNCHAINED.has(name)));
  return digest([2, previous, kept]);
}

export const beginningOf = (caller: string, session: string, uid: string): string => digest([caller, session, uid]);

const digest = (value: unknown): string => createHash('sha256').update(sorted(value)).digest('hex');

/** Enough of RFC 8785 for rows, whose numbers are small integers. */
function sorted(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(sorted).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([name, inner]) => `${JSON.stringify(name)}:${sorted(inner)}`).join(',')}}`;
}
