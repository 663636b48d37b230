/** What operators are answered, as schemas: see wire.ts. */
import * as z from 'zod';
import { auditRow as storedRow } from '../../ledger/audit-row.ts';
import { policy } from './caller-bodies.ts';
import { approvalStatus, time } from '../agent/wire.ts';

const nextCursor = z.string().nullable().describe('Where the next page begins; null at the end.');
const hash = z.string().regex(/^[0-9a-f]{64}$/);

const caller = z.strictObject({
  caller_id: z.string(),
  name: z.string(),
  policy,
  version: z.int().min(1).describe('Rises with every change.'),
  created_at: time,
  revoked_at: time.exactOptional(),
});

const apiKey = z.string().describe('Shown this once.');

export const newCaller = z.strictObject({ caller_id: z.string(), api_key: apiKey, policy });
export const callerList = z.strictObject({ callers: z.array(caller) });
export const changedCaller = caller.extend({
  sessions: z
    .strictObject({ told: z.int().min(0), queued: z.int().min(0) })
    .describe('Open sessions that know of it, and those that will hear of it from the queue.'),
});
export const rotatedKey = z.strictObject({
  caller_id: z.string(),
  api_key: apiKey,
  old_key_expires_at: time,
  sessions: z
    .strictObject({ ended: z.int().min(0), missed: z.int().min(0) })
    .exactOptional()
    .describe('With end_sessions: how many were ended, and how many did not answer.'),
});

const listedApproval = z.strictObject({
  id: z.string(),
  uid: z.string().describe("The session's own id."),
  caller_id: z.string(),
  session_id: z.string(),
  tool: z.string(),
  subject: z.string().nullable().describe('What the effect is about, such as the order.'),
  amount_cents: z.int().nullable(),
  currency: z.string().nullable(),
  status: approvalStatus,
  code: z.string().nullable().describe('Why it failed.'),
  opened_at: time,
  expires_at: time,
  decided_at: time.nullable(),
  actor: z.string().nullable().describe('Who decided.'),
  note: z.string().nullable().describe('Why it was rejected.'),
  delivery: z.array(
    z.strictObject({
      approver: z.int(),
      email: z.string(),
      sent_at: time.nullable(),
      undeliverable: z.boolean(),
    }),
  ),
});
export const approvalList = z.strictObject({ approvals: z.array(listedApproval), next_cursor: nextCursor });
export const approvalAction = z.strictObject({
  id: z.string(),
  status: approvalStatus,
  code: z.string().exactOptional(),
});

const { shape } = storedRow;

/** Says of a row what is always so, and the schema that reads rows does not. */
export const auditRow = storedRow.extend({
  seq: shape.seq.min(1),
  at: time,
  duration_ms: shape.duration_ms.min(0),
  hash: hash.describe(shape.hash.description ?? ''),
});

export const auditPage = z.strictObject({ rows: z.array(auditRow), next_cursor: nextCursor });
export const chainHeads = z.strictObject({
  heads: z.array(
    z.strictObject({ uid: z.string(), caller_id: z.string(), session_id: z.string(), seq: z.int().min(0), hash }),
  ),
  next_cursor: nextCursor,
});
export const attemptPage = z.strictObject({
  rows: z.array(
    z.strictObject({
      call_key: hash,
      attempt: z.int().min(1),
      uid: z.string(),
      applied: z.boolean().describe('Else it is void and never will be.'),
      at: time,
    }),
  ),
  next_cursor: nextCursor,
});
