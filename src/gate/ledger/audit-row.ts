/**
 * One row of the audit and the hashes that chain it to the row before: the single description of the chain. The session
 * object writes by it and the verifier recomputes by it. Synchronous throughout, because an awaited digest forks the chain.
 */
import * as z from 'zod';
import { hashOf } from '../canonical.ts';
import type { JsonObject, JsonValue } from '../json.ts';

/**
 * A row of docs/specification.md#audit as it is hashed, stored and shown; the columns in D1 are its keys. The schema
 * checks types and not values, so that a row tampered with still reaches the verifier.
 */
export const auditRow = z.strictObject({
  uid: z.string().describe("The session's own id; a session forgotten and opened again has another."),
  seq: z.int().describe('Without gaps within a session, in the order of settling.'),
  kind: z.enum(['call', 'decision', 'event']),
  stage: z.int().nullable().describe('The stage that decided, 0 to 8; null for events.'),
  /** RFC 3339, UTC, with milliseconds: the text is what is hashed. */
  at: z.string(),
  caller_id: z.string(),
  session_id: z.string(),
  policy_version: z.int().describe("The version of the caller's policy that the session had."),
  step: z.int().nullable(),
  call_id: z.string().nullable(),
  tool: z.string().nullable(),
  /** Null where there were none, or erased or withheld. */
  arguments: z
    .string()
    .nullable()
    .describe('RFC 8785 text where they parse, else as the model wrote them; at most 4,096 bytes, controls escaped.'),
  /**
   * Of the arguments: it goes when they go, so that `args_hash` cannot be used to guess them. A row with `approver_hash` has
   * none, and keeps the salt of that.
   */
  salt: z.string().nullable(),
  args_hash: z.string().nullable().describe('SHA-256 of salt and the whole text of the arguments.'),
  arguments_cut: z.boolean().describe('The row keeps only the beginning of the arguments.'),
  kept_hash: z.string().nullable().describe('On a cut row: SHA-256 of salt and the beginning that it keeps.'),
  arguments_omitted: z.boolean().describe('The session keeps no more arguments; the row has their hash.'),
  key: z.string().nullable().describe('The call key: equal for equal intents of a session.'),
  attempt: z.int().nullable().describe('On the one row that made a record executed.'),
  result_hash: z
    .string()
    .nullable()
    .describe('On that row: SHA-256 of subject, amount, currency and answer as the ledger has them.'),
  ok: z.boolean(),
  code: z.string(),
  candidate: z.string().nullable().describe('What a candidate policy would have said; null without one.'),
  reason: z.string().nullable().describe('The reason that a person gave.'),
  fields: z.array(z.string()).nullable().describe('The fields with problems.'),
  replayed: z.boolean(),
  approval_id: z.string().nullable(),
  actor: z.string(),
  approver_hash: z
    .string()
    .nullable()
    .describe("Where a person had decided: SHA-256 of salt and the approver's address."),
  shown_hash: z.string().nullable().describe('There: SHA-256 of salt and the digests of the facts on the page.'),
  duration_ms: z.int(),
  request_id: z.string().nullable().describe('The X-Request-Id of the request.'),
  trace_id: z.string().nullable().describe('Of the traceparent header of the call.'),
  contract: z.string().nullable().describe("The version of the tool's contract."),
  hash: z.string().describe('Of the row before it and this one.'),
  /** D1 refused the row with its arguments. Not hashed, as the object cannot know it in advance, and so shown only where it is so. */
  withheld: z
    .literal(true)
    .exactOptional()
    .describe('The row travelled without its arguments. Else it has no such member.'),
});
export type AuditRow = z.output<typeof auditRow>;

/** What may be erased later, the hash itself, and the mark of a row's journey. */
const UNCHAINED = ['arguments', 'salt', 'hash', 'withheld'] as const;
/** What the chain binds. */
export type ChainedRow = Omit<AuditRow, (typeof UNCHAINED)[number]>;

const CHAINED = Object.keys(auditRow.shape).filter(
  (name): name is keyof ChainedRow => !UNCHAINED.some((unchained) => unchained === name),
);

/** The `previous` of a session's first row: a hash of its name, so that a chain cannot pass as another session's. */
export const firstPrevious = (callerId: string, sessionId: string, uid: string): string =>
  hashOf([callerId, sessionId, uid]);

/** A row's hash, given that of the row before. What else an object carries is not hashed. */
export const chainHash = (previous: string, row: ChainedRow): string =>
  hashOf([2, previous, Object.fromEntries(CHAINED.map((name) => [name, row[name]]))]);

/** `args_hash` and `kept_hash`: salted, so that erased arguments cannot be found by trying. */
export const argumentsHash = (salt: string, text: string): string => hashOf([salt, text]);

/** `approver_hash`: salted, because rows are log lines and addresses are easily guessed. */
export const approverHash = (salt: string, address: string): string => hashOf([salt, address.toLowerCase()]);

/** `shown_hash`; `shown` holds the digests of the facts. */
export const shownHash = (salt: string, shown: string): string => hashOf([salt, shown]);

/** What an attempt applied, as the ledger's row says it. `amount` in minor units. */
export type Result = { subject: string; amount: number | null; currency: string | null; answer: JsonObject | null };

/** `result_hash`. The answer of another system may hold half a surrogate pair, which RFC 8785 cannot write. */
export const resultHash = (result: Result): string => hashOf(wellFormed(result));

function wellFormed(value: JsonValue): JsonValue {
  if (typeof value === 'string') return value.toWellFormed();
  if (Array.isArray(value)) return value.map(wellFormed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name.toWellFormed(), wellFormed(inner)]));
}

/** The row as it travels where D1 refuses it with its arguments. */
export const withheldRow = (row: AuditRow): AuditRow => ({
  ...row,
  arguments: null,
  salt: row.approver_hash === null ? null : row.salt,
  withheld: true,
});
