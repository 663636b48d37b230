/** How a moment is written, and how long something is waited for. All moments are milliseconds since the epoch, UTC. */

/** RFC 3339, for programs. */
export const timestamp = (at: number): string => new Date(at).toISOString();

/** `2026-03-01 09:30 UTC`, for people: they sit in different places, and neither a page nor a mail knows where it is read. */
export const toMinute = (at: number): string => `${timestamp(at).slice(0, 16).replace('T', ' ')} UTC`;

/** `2026-03-01`, the day in UTC. */
export const toDay = (at: number): string => timestamp(at).slice(0, 10);

export class TooLate extends Error {}

/** What is waited for no longer than that, else `TooLate`. It goes on all the same: an RPC, a mail or a statement cannot be withdrawn. */
export async function inTime<T>(answer: Promise<T>, limitMs: number): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new TooLate(`no answer within ${limitMs} ms`)), limitMs);
  });
  try {
    return await Promise.race([answer, silence]);
  } finally {
    clearTimeout(timer);
  }
}
