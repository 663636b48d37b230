/** What both consumers know of a queue message: its shape, what of it may be logged, and how long to wait before the next try. */
import * as z from 'zod';
import type { QueueMessage } from '../session/rpc.ts';
import { TooLate } from '../time.ts';

const object = z.string().min(1).max(128);
const id = z.string().regex(/^[A-Za-z0-9_-]{1,128}$/);
const count = z.int().min(0);

/** Strict: a message of another shape comes from another version of the Worker, and guessing at it could mail the wrong person. */
export const queueMessageSchema: z.ZodType<QueueMessage> = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('approval'), object, approval_id: id, approver: count }),
  z.strictObject({ type: z.literal('decided'), object, approval_id: id, approver: count }),
  z.strictObject({ type: z.literal('notice'), object, seq: count, approver: count }),
  z.strictObject({ type: z.literal('tell'), object, caller_id: id }),
]);

/** One line of the log: ids and codes, never an address, link or argument. */
export type LogLine = Record<string, string | number>;
export type Log = (line: LogLine) => void;

/** A batch is answered as a whole: a message that hangs would hold back its fellows for up to 15 minutes. */
export const HANDLING_MS = 30_000;

const MAX_DELAY_SECONDS = 3_600;
/** The mail service's code for a day's quota that is used up. */
export const QUOTA_SPENT = 'E_DAILY_LIMIT_EXCEEDED';
/** It comes back with the day: five tries in twenty hours, and an approval lives for a day where its policy says nothing else. */
const QUOTA_DELAY_SECONDS = 4 * 3_600;

/**
 * 5 s, 20 s, 80 s, … : the first tries are for a passing fault, and the five that wrangler.toml allows span almost half an
 * hour, which outlives an outage of the mail service. Seconds.
 */
export const backoffSeconds = (attempts: number, code = ''): number =>
  code === QUOTA_SPENT ? QUOTA_DELAY_SECONDS : Math.min(5 * 4 ** (attempts - 1), MAX_DELAY_SECONDS);

/** The code of an error where it has one. Never its message, which may repeat an address. */
export function errorCode(error: unknown): string {
  if (error instanceof TooLate) return 'TIMEOUT';
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' && /^E_[A-Z_]{1,60}$/.test(code) ? code : 'UNKNOWN_ERROR';
}
