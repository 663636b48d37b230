import { env } from 'cloudflare:workers';
import { describe, expect, it } from 'vitest';
import { revokeCaller, rotateKeys, type Change } from '../../../src/gate/ledger/caller-changes.ts';
import { readCallerChange } from '../../../src/gate/ledger/callers.ts';
import { ledgerSql } from '../../../src/gate/ledger/d1.ts';
import {
  extendSession,
  openSession,
  openSessionsOf,
  sessionPage,
  sessionsToWake,
  withdrawSession,
} from '../../../src/gate/ledger/sessions.ts';
import { fresh, keyOf, liveCaller } from '../../support/ledger.ts';

const sql = ledgerSql(env.DB);
const change = (caller_id: string): Change => ({ caller_id, at: 2_000, request_id: 'req-change' });

/** Opened at 1,000, its token good until 100,000. */
const session = (caller_id: string, changes: { uid?: string; expires_at?: number } = {}) => ({
  uid: `uid-${fresh()}`,
  caller_id,
  session_id: 'chat-1',
  key_hash: keyOf(caller_id),
  opened_at: 1_000,
  expires_at: 100_000,
  ...changes,
});

/** At 2,000, for a token until then. */
const rejoined = (entered: ReturnType<typeof session>, expires_at: number) => ({ ...entered, now: 2_000, expires_at });

/** Long enough after its token's end that nothing it caused can still be on its way. */
const LONG_AFTER = 100_000 + 3_600_000;

describe('openSession', () => {
  it('enters the session and answers with its caller as it is now', async () => {
    const id = await liveCaller();
    const entered = session(id);
    expect(await openSession(sql, entered)).toEqual(await readCallerChange(sql, id));
    const { uid, caller_id, session_id } = entered;
    expect(await openSessionsOf(sql, id, 50_000, null, 10)).toEqual([{ uid, caller_id, session_id }]);
  });

  it('enters it once however often it is told', async () => {
    const id = await liveCaller();
    const entered = session(id);
    await openSession(sql, entered);
    expect(await openSession(sql, entered)).toMatchObject({ version: 1 });
    expect(await openSessionsOf(sql, id, 50_000, null, 10)).toHaveLength(1);
  });

  it('enters nothing for a revoked caller', async () => {
    const id = await liveCaller();
    await revokeCaller(sql, change(id));
    expect(await openSession(sql, session(id))).toBeNull();
    expect(await openSessionsOf(sql, id, 50_000, null, 10)).toEqual([]);
  });

  it('enters nothing by a key whose time is over, or that is unknown', async () => {
    const id = await liveCaller();
    await rotateKeys(sql, { key_hash: 'new', old_expires_at: 3_000 }, change(id));
    expect(await openSession(sql, { ...session(id), opened_at: 3_000 })).toBeNull();
    expect(await openSession(sql, { ...session(id), key_hash: 'another' })).toBeNull();
    expect(await openSessionsOf(sql, id, 50_000, null, 10)).toEqual([]);
    expect(await openSession(sql, { ...session(id), opened_at: 2_999 })).toMatchObject({ version: 1 });
    expect(await openSession(sql, { ...session(id), key_hash: 'new' })).toMatchObject({ version: 1 });
    await rotateKeys(sql, { key_hash: 'newest', old_expires_at: 0 }, change(id));
    expect(await openSession(sql, { ...session(id), key_hash: 'new' })).toBeNull();
  });
});

describe('extendSession', () => {
  it('moves the expiry forward, never back', async () => {
    const id = await liveCaller();
    const entered = session(id);
    await openSession(sql, entered);
    expect(await extendSession(sql, rejoined(entered, 200_000_000))).toMatchObject({ version: 1 });
    expect(await extendSession(sql, rejoined(entered, 150_000))).toMatchObject({ version: 1 });
    expect(await openSessionsOf(sql, id, 199_000_000, null, 10)).toHaveLength(1);
  });

  it('gives a revoked caller nothing', async () => {
    const id = await liveCaller();
    const entered = session(id);
    await openSession(sql, entered);
    await revokeCaller(sql, change(id));
    expect(await extendSession(sql, rejoined(entered, 200_000_000))).toBeNull();
    expect(await openSessionsOf(sql, id, LONG_AFTER, null, 10)).toEqual([]);
  });

  it('gives nothing to a key whose time is over', async () => {
    const id = await liveCaller();
    const entered = session(id);
    await openSession(sql, entered);
    await rotateKeys(sql, { key_hash: 'new', old_expires_at: 2_000 }, change(id));
    expect(await extendSession(sql, rejoined(entered, 200_000_000))).toBeNull();
    expect(await openSessionsOf(sql, id, LONG_AFTER, null, 10)).toEqual([]);
    expect(await extendSession(sql, rejoined({ ...entered, key_hash: 'new' }, 200_000_000))).toMatchObject({
      version: 1,
    });
  });
});

describe('openSessionsOf', () => {
  it.each([
    { state: 'whose token is good', sets: '', at: 50_000, open: true },
    {
      state: 'whose token ended within the hour, with what it did last perhaps untold',
      sets: '',
      at: 100_000 + 3_500_000,
      open: true,
    },
    { state: 'whose token is over', sets: '', at: LONG_AFTER, open: false },
    { state: 'with an open record although its token is over', sets: 'open_records = 1', at: LONG_AFTER, open: true },
    { state: 'that was ended', sets: 'ended_at = 2000', at: 50_000, open: false },
    { state: 'that was ended with a record open', sets: 'ended_at = 2000, open_records = 1', at: 50_000, open: true },
  ])('finds a session $state: $open', async ({ sets, at, open }) => {
    const id = await liveCaller();
    const entered = session(id);
    await openSession(sql, entered);
    if (sets !== '') await env.DB.prepare(`UPDATE sessions SET ${sets} WHERE uid = ?`).bind(entered.uid).run();
    expect(await openSessionsOf(sql, id, at, null, 10)).toHaveLength(open ? 1 : 0);
  });

  it('goes on behind a uid', async () => {
    const id = await liveCaller();
    const uids = [`a-${fresh()}`, `b-${fresh()}`, `c-${fresh()}`];
    for (const uid of uids) await openSession(sql, session(id, { uid }));
    const rest = await openSessionsOf(sql, id, 50_000, uids[0] ?? null, 1);
    expect(rest.map(({ uid }) => uid)).toEqual([uids[1]]);
  });
});

describe('withdrawSession', () => {
  it('takes back the session that was refused, and no other', async () => {
    const id = await liveCaller();
    const [refused, other] = [session(id), session(id)];
    await openSession(sql, refused);
    await openSession(sql, other);
    await withdrawSession(sql, refused.uid);
    expect((await openSessionsOf(sql, id, 50_000, null, 10)).map(({ uid }) => uid)).toEqual([other.uid]);
  });
});

describe('sessionsToWake', () => {
  it('names those with open records first', async () => {
    const id = await liveCaller();
    const [older, newer] = [session(id, { uid: `y-${fresh()}` }), session(id, { uid: `z-${fresh()}` })];
    await openSession(sql, older);
    await openSession(sql, newer);
    await env.DB.prepare('UPDATE sessions SET open_records = 1 WHERE uid = ?').bind(older.uid).run();
    const woken = (await sessionsToWake(sql, 50_000, 100)).filter(({ caller_id }) => caller_id === id);
    expect(woken.map(({ uid }) => uid)).toEqual([older.uid, newer.uid]);
  });
});

describe('sessionsToWake, of a session that was ended with a call running perhaps', () => {
  it.each([
    { when: 'within the hour', at: 2_000 + 3_599_999, named: 1 },
    { when: 'before', at: 2_000 + 3_600_000, named: 0 },
  ])('names $named that was ended $when', async ({ at, named }) => {
    const id = await liveCaller();
    const ended = session(id);
    await openSession(sql, ended);
    await env.DB.prepare('UPDATE sessions SET ended_at = 2000 WHERE uid = ?').bind(ended.uid).run();
    expect((await sessionsToWake(sql, at, 100)).filter(({ uid }) => uid === ended.uid)).toHaveLength(named);
  });
});

describe('sessionPage', () => {
  it('pages through all sessions, newest first', async () => {
    const id = await liveCaller();
    await openSession(sql, session(id));
    await openSession(sql, session(id));
    const first = await sessionPage(sql, null, 1);
    const second = await sessionPage(sql, first.next_cursor, 1);
    const [newest, next] = [first.rows[0]?.uid, second.rows[0]?.uid];
    expect(newest !== undefined && next !== undefined && newest > next).toBe(true);
  });
});
