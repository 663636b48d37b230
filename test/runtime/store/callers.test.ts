import { env } from 'cloudflare:workers';
import { describe, expect, it } from 'vitest';
import {
  changeCaller,
  createCaller,
  logExport,
  revokeCaller,
  rotateKeys,
  type Change,
} from '../../../src/gate/ledger/caller-changes.ts';
import { findCaller, findKeyHashes, readCallerChange } from '../../../src/gate/ledger/callers.ts';
import { ledgerSql } from '../../../src/gate/ledger/d1.ts';
import { liveCaller, policy } from '../../support/ledger.ts';

const sql = ledgerSql(env.DB);
const change = (caller_id: string): Change => ({ caller_id, at: 2_000, request_id: 'req-change' });

async function actionsOn(callerId: string): Promise<unknown[]> {
  const rows = await sql.all('SELECT action FROM operator_log WHERE caller_id = ? ORDER BY id', callerId);
  return rows.map(({ action }) => action);
}

describe('createCaller', () => {
  it('makes a live caller of version 1 with one key and one row in the operator log', async () => {
    const id = await liveCaller();
    const made = { caller_id: id, name: 'Shop assistant', version: 1, created_at: 1_000, revoked_at: null };
    expect(await findCaller(sql, id)).toEqual({ ...made, policy: policy() });
    expect(await findKeyHashes(sql, id, 1_000)).toEqual([`key-${id}`]);
    expect(await actionsOn(id)).toEqual(['create']);
  });

  it('leaves no trace where the id is taken', async () => {
    const id = await liveCaller();
    const second = createCaller(sql, { name: 'Other', policy: policy(), key_hash: 'key-other' }, change(id));
    await expect(second).rejects.toThrow('UNIQUE');
    expect(await actionsOn(id)).toEqual(['create']);
    expect(await findKeyHashes(sql, id, 1_000)).toEqual([`key-${id}`]);
  });
});

describe('findCaller', () => {
  it('reads a policy that a later version stored, without what it does not know', async () => {
    const id = await liveCaller();
    const later = JSON.stringify({ ...policy(), max_tokens: 5 });
    await env.DB.prepare('UPDATE callers SET policy = ? WHERE caller_id = ?').bind(later, id).run();
    expect(await findCaller(sql, id)).toHaveProperty('policy', policy());
  });
});

describe('changeCaller', () => {
  it('replaces name and policy and raises the version', async () => {
    const id = await liveCaller();
    const next = { name: 'Shop', policy: policy({ max_steps: 3 }), version: 1 };
    expect(await changeCaller(sql, next, change(id))).toBe(true);
    expect(await readCallerChange(sql, id)).toEqual({
      name: 'Shop',
      policy: policy({ max_steps: 3 }),
      version: 2,
      revoked: false,
      pauses: [],
    });
    expect(await actionsOn(id)).toEqual(['create', 'change']);
  });

  it('changes and logs nothing where another change came between', async () => {
    const id = await liveCaller();
    await changeCaller(sql, { name: 'First', policy: policy(), version: 1 }, change(id));
    expect(await changeCaller(sql, { name: 'Second', policy: policy(), version: 1 }, change(id))).toBe(false);
    expect(await findCaller(sql, id)).toMatchObject({ name: 'First', version: 2 });
    expect(await actionsOn(id)).toEqual(['create', 'change']);
  });

  it('does not change a revoked caller', async () => {
    const id = await liveCaller();
    await revokeCaller(sql, change(id));
    expect(await changeCaller(sql, { name: 'Shop', policy: policy(), version: 2 }, change(id))).toBe(false);
  });
});

describe('rotateKeys', () => {
  it('keeps the old key until its grace is over', async () => {
    const id = await liveCaller();
    expect(await rotateKeys(sql, { key_hash: 'key-2', old_expires_at: 5_000 }, change(id))).toBe(true);
    expect(new Set(await findKeyHashes(sql, id, 4_999))).toEqual(new Set([`key-${id}`, 'key-2']));
    expect(await findKeyHashes(sql, id, 5_000)).toEqual(['key-2']);
  });

  it('drops the oldest key when a third is made, even within its grace', async () => {
    const id = await liveCaller();
    await rotateKeys(sql, { key_hash: 'key-2', old_expires_at: 9_000 }, change(id));
    await rotateKeys(sql, { key_hash: 'key-3', old_expires_at: 9_000 }, change(id));
    expect(new Set(await findKeyHashes(sql, id, 3_000))).toEqual(new Set(['key-2', 'key-3']));
  });

  it('gives a revoked caller no key and logs nothing', async () => {
    const id = await liveCaller();
    await revokeCaller(sql, change(id));
    expect(await rotateKeys(sql, { key_hash: 'key-2', old_expires_at: 5_000 }, change(id))).toBe(false);
    expect(await actionsOn(id)).toEqual(['create', 'revoke']);
  });
});

describe('revokeCaller', () => {
  it('closes the door for every key, raises the version and cannot be done twice', async () => {
    const id = await liveCaller();
    expect(await revokeCaller(sql, change(id))).toBe(true);
    expect(await findKeyHashes(sql, id, 2_000)).toEqual([]);
    expect(await readCallerChange(sql, id)).toMatchObject({ version: 2, revoked: true });
    expect(await revokeCaller(sql, change(id))).toBe(false);
    expect(await readCallerChange(sql, id)).toMatchObject({ version: 2 });
    expect(await actionsOn(id)).toEqual(['create', 'revoke']);
  });
});

describe('the table operator_log', () => {
  it.each(['UPDATE operator_log SET action = action', 'DELETE FROM operator_log'])('refuses %s', async (statement) => {
    await logExport(sql, 1, 'req-export');
    await expect(env.DB.prepare(statement).run()).rejects.toThrow('append-only');
  });
});
