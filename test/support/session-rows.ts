/** Open sessions as the ledger lists them, without an object behind any. */
import { env } from 'cloudflare:workers';
import { vi } from 'vitest';

/** Rows as sessions leave them, without their objects. */
export async function enterSessions(callerId: string, count: number): Promise<void> {
  await env.DB.prepare(
    `INSERT INTO sessions (uid, caller_id, session_id, opened_at, expires_at)
     SELECT ?1 || printf('-%04d', value), ?1, 'chat-' || value, 1, 9e15 FROM json_each(?2)`,
  )
    .bind(callerId, JSON.stringify(Array.from({ length: count }, (_, index) => index)))
    .run();
}

/** Puts these in the place of all session objects. */
export const objectsThat = (told: () => Promise<void>) =>
  vi
    .spyOn(env.SESSION, 'getByName')
    .mockReturnValue({ tell: told, end: told } as unknown as ReturnType<typeof env.SESSION.getByName>);
