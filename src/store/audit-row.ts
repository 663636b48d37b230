/**
 * One row of the audit and the hashes that chain it to the row before: the single description of the chain. The session
 * object writes by it and the verifier recomputes by it. Synchronous throughout, because an awaited digest forks the chain.
 */
import { hashOf } from '../canonical.ts';

/** A row of SPEC 7 as it is hashed, stored and shown. */
export type AuditRow = {
  uid: string;
  /** Gap-free per session, in the order of settling, from 1. */
  seq: number;
  kind: 'call' | 'decision' | 'event';
  /** RFC 3339, UTC, with milliseconds: the text is what is hashed. */
  at: string;
  caller_id: string;
  session_id: string;
  step: number | null;
  call_id: string | null;
  tool: string | null;
  /** As the model wrote them, at most 4,096 bytes, controls escaped; null where there were none, or erased or withheld. */
  arguments: string | null;
  /** Goes when the arguments go, so that `args_hash` cannot be used to guess them. */
  salt: string | null;
  args_hash: string | null;
  /** The call key. */
  key: string | null;
  /** Only on the row that made a record executed. */
  attempt: number | null;
  ok: boolean;
  code: string;
  /** The fields with problems. */
  fields: string[] | null;
  replayed: boolean;
  approval_id: string | null;
  actor: string;
  duration_ms: number;
  request_id: string | null;
  contract: string | null;
  hash: string;
  /** D1 refused the row with its arguments, so it travelled without them. Not hashed: the object cannot know it in advance. */
  withheld: boolean;
};

/** What the chain binds: all of a row but what may be erased later, the hash itself, and the mark of its journey. */
export type ChainedRow = Omit<AuditRow, 'arguments' | 'salt' | 'hash' | 'withheld'>;

/** What stands before a session's first row: its own name, so that a whole chain cannot be passed off as another's. */
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
