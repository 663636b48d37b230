/**
 * One row of the audit and the hashes that chain it to the row before: the single description of the chain. The session
 * object writes by it and the verifier recomputes by it. Synchronous throughout, because an awaited digest forks the chain.
 */
import * as z from 'zod';
import { hashOf } from '../canonical.ts';

/**
 * A row of docs/specification.md#audit as it is hashed, stored and shown; the columns in D1 are its keys. The schema
 * checks types and not values, so that a row tampered with still reaches the verifier.
 */
export const auditRow = z.strictObject({
  uid: z.string().describe("The session's own id; a session forgotten and opened again has another."),
  seq: z.int().describe('Without gaps within a session, in the order of settling.'),
  kind: z.enum(['call', 'decision', 'event']),
  /** RFC 3339, UTC, with milliseconds: the text is what is hashed. */
  at: z.string(),
  caller_id: z.string(),
  session_id: z.string(),
  step: z.int().nullable(),
  call_id: z.string().nullable(),
  tool: z.string().nullable(),
  /** Null where there were none, or erased or withheld. */
  arguments: z.string().nullable().describe('As the model wrote them, at most 4,096 bytes, controls escaped.'),
  /** Goes when the arguments go, so that `args_hash` cannot be used to guess them. */
  salt: z.string().nullable(),
  args_hash: z.string().nullable().describe('SHA-256 of salt and arguments.'),
  key: z.string().nullable().describe('The call key: equal for equal intents of a session.'),
  attempt: z.int().nullable().describe('On the one row that made a record executed.'),
  ok: z.boolean(),
  code: z.string(),
  fields: z.array(z.string()).nullable().describe('The fields with problems.'),
  replayed: z.boolean(),
  approval_id: z.string().nullable(),
  actor: z.string(),
  duration_ms: z.int(),
  request_id: z.string().nullable().describe('The X-Request-Id of the request.'),
  contract: z.string().nullable().describe("The version of the tool's contract."),
  hash: z.string().describe('Of the row before it and this one.'),
  /** D1 refused the row with its arguments. Not hashed, as the object cannot know it in advance, and so shown only where it is so. */
  withheld: z
    .literal(true)
    .exactOptional()
    .describe('The row travelled without its arguments. Else it has no such member.'),
});
export type AuditRow = z.output<typeof auditRow>;

/** What the chain binds: all of a row but what may be erased later, the hash itself, and the mark of its journey. */
export type ChainedRow = Omit<AuditRow, 'arguments' | 'salt' | 'hash' | 'withheld'>;

/** The `previous` of a session's first row: a hash of its name, so that a chain cannot pass as another session's. */
export const firstPrevious = (callerId: string, sessionId: string, uid: string): string =>
  hashOf([callerId, sessionId, uid]);

/** A row's hash, given that of the row before. Members are named one by one: what else an object carries is not hashed. */
export function chainHash(previous: string, row: ChainedRow): string {
  return hashOf([
    1,
    previous,
    {
      uid: row.uid,
      seq: row.seq,
      kind: row.kind,
      at: row.at,
      caller_id: row.caller_id,
      session_id: row.session_id,
      step: row.step,
      call_id: row.call_id,
      tool: row.tool,
      args_hash: row.args_hash,
      key: row.key,
      attempt: row.attempt,
      ok: row.ok,
      code: row.code,
      fields: row.fields,
      replayed: row.replayed,
      approval_id: row.approval_id,
      actor: row.actor,
      duration_ms: row.duration_ms,
      request_id: row.request_id,
      contract: row.contract,
    },
  ]);
}

/** `args_hash`: salted, so that erased arguments cannot be found by trying. */
export const argumentsHash = (salt: string, text: string): string => hashOf([salt, text]);
