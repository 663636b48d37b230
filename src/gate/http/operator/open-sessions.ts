/**
 * Reaches all open sessions of callers. A change must hold everywhere when the answer says so, so each session is told before
 * the answer. The queue tells those that could not be reached in time, and the answer counts them.
 */
import { sessionObjectName } from '../../auth/tokens.ts';
import { logError } from '../../log-line.ts';
import type { CallerChange } from '../../ports.ts';
import type { QueueMessage, SessionRpc } from '../../session/rpc.ts';
import { ledgerSql } from '../../ledger/d1.ts';
import { openSessionsOf, type SessionPlace } from '../../ledger/sessions.ts';
import { inTime } from '../../time.ts';
import { sessionStub } from '../shared/context.ts';

/** More would exceed a client's timeout and come near the platform's limit of subrequests. */
const TOLD_AT_ONCE = 500;
const PARALLEL = 25;
/** An object that does not answer by then counts as missed. A late answer is harmless. */
const REACH_MS = 5_000;
/** Sessions not asked by this deadline count as missed: a request goes on for 30 s after a disconnect ("Workers limits"). */
const ASKING_MS = 15_000;
/** The most messages that Queues takes in one batch. */
const QUEUE_BATCH = 100;

/**
 * Tells the open sessions of one caller, or of all where `callerId` is null, of the change of their caller. The queue tells the
 * `queued` ones later.
 */
export async function tellOpenSessions(
  env: Env,
  callerId: string | null,
  changes: ReadonlyMap<string, CallerChange>,
): Promise<{ told: number; queued: number }> {
  const now = Date.now();
  const page = (after: string | null, limit: number): Promise<SessionPlace[]> =>
    openSessionsOf(ledgerSql(env.DB), callerId, now, after, limit);
  const tell = async (session: SessionRpc, { caller_id }: SessionPlace): Promise<void> => {
    const change = changes.get(caller_id);
    // A caller that was created later: its sessions read the change when they opened.
    if (change !== undefined) await session.tell(change);
  };

  const first = await page(null, TOLD_AT_ONCE);
  const missed = await missedOf(env, first, tell, now + ASKING_MS);
  await queueTelling(env, missed);
  let queued = missed.length;
  let after = first.length === TOLD_AT_ONCE ? first.at(-1)?.uid : undefined;
  while (after !== undefined) {
    const rest = await page(after, QUEUE_BATCH);
    await queueTelling(env, rest);
    queued += rest.length;
    after = rest.length === QUEUE_BATCH ? rest.at(-1)?.uid : undefined;
  }
  return { told: first.length - missed.length, queued };
}

/**
 * Ends a caller's open sessions. `missed` ones could not be reached in time and go on until their tokens expire; a page that D1
 * did not return counts as one. Never throws: the answer holds the new key, which is shown only once.
 */
export async function endOpenSessions(env: Env, callerId: string): Promise<{ ended: number; missed: number }> {
  const now = Date.now();
  const deadline = now + ASKING_MS;
  const counts = { ended: 0, missed: 0 };
  let after: string | null = null;
  for (;;) {
    const named = openSessionsOf(ledgerSql(env.DB), callerId, now, after, TOLD_AT_ONCE);
    const page: SessionPlace[] | null = await named.catch((error: unknown) => {
      logError({ event: 'open_sessions_unread', caller_id: callerId }, error);
      return null;
    });
    if (page === null) return { ...counts, missed: counts.missed + 1 };
    const missed = await missedOf(env, page, (session, { uid }) => session.end(uid), deadline);
    counts.ended += page.length - missed.length;
    counts.missed += missed.length;
    const last = page.at(-1);
    if (last === undefined || page.length < TOLD_AT_ONCE) return counts;
    after = last.uid;
  }
}

/** Asks each session's object until the deadline; returns the sessions that failed, timed out or were not asked. */
async function missedOf(
  env: Env,
  places: SessionPlace[],
  ask: (session: SessionRpc, place: SessionPlace) => Promise<unknown>,
  deadline: number,
): Promise<SessionPlace[]> {
  const missed: SessionPlace[] = [];
  for (let start = 0; start < places.length; start += PARALLEL) {
    if (Date.now() > deadline) return [...missed, ...places.slice(start)];
    const some = places.slice(start, start + PARALLEL);
    const answers = await Promise.allSettled(
      some.map((place) => inTime(ask(sessionStub(env, place.caller_id, place.session_id), place), REACH_MS)),
    );
    missed.push(...some.filter((_, index) => answers[index]?.status === 'rejected'));
  }
  return missed;
}

async function queueTelling(env: Env, places: SessionPlace[]): Promise<void> {
  const messages = places.map(({ caller_id, session_id }): MessageSendRequest<QueueMessage> => {
    return { body: { type: 'tell', object: sessionObjectName(caller_id, session_id), caller_id } };
  });
  for (let start = 0; start < messages.length; start += QUEUE_BATCH) {
    await env.QUEUE.sendBatch(messages.slice(start, start + QUEUE_BATCH));
  }
}
