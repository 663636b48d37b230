/** What both consumers know of a queue message: its shape, what of it may be logged, and how long to wait before the next try. */
import * as z from 'zod';
import type { QueueMessage } from '../session/rpc.ts';

const object = z.string().min(1).max(128);
const id = z.string().regex(/^[A-Za-z0-9_-]{1,128}$/);
const count = z.int().min(0);

/** Strict: a message of another shape comes from another version of the Worker, and guessing at it could mail the wrong person. */
export const queueMessageSchema: z.ZodType<QueueMessage> = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('approval'), object, approval_id: id, approver: count }),
  z.strictObject({ type: z.literal('notice'), object, seq: count, approver: count }),
  z.strictObject({ type: z.literal('tell'), object, caller_id: id }),
]);

/** One line of the log: ids and codes, never an address, link or argument. */
export type LogLine = Record<string, string | number>;
export type Log = (line: LogLine) => void;

const MAX_DELAY_SECONDS = 3_600;
/** A day's quota of mails comes back with the day: five tries in twenty hours, and an approval lives for a day. */
const QUOTA_DELAY_SECONDS = 4 * 3_600;

/**
 * 5 s, 20 s, 80 s, … : the first tries are for a passing fault, and the five that wrangler.toml allows span almost half an
 * hour, which outlives an outage of the mail service. Seconds.
 */
export const backoffSeconds = (attempts: number, code = ''): number =>
  code === 'E_DAILY_LIMIT_EXCEEDED' ? QUOTA_DELAY_SECONDS : Math.min(5 * 4 ** (attempts - 1), MAX_DELAY_SECONDS);

/** The code of an error where it has one. Never its message, which may repeat an address. */
export function errorCode(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' && /^E_[A-Z_]{1,60}$/.test(code) ? code : 'UNKNOWN_ERROR';
}
