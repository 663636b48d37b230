import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import type { Policy, SessionSql, SqlRow } from '../../../src/gate/ports.ts';
import { createTables } from '../../../src/gate/session/schema.ts';
import {
  insertSession,
  markEnded,
  readSession,
  takeChange,
  theSession,
} from '../../../src/gate/session/session-row.ts';
import { indexOf, type Indexed } from '../../../src/gate/session/log-index.ts';
import { SessionTables } from '../../../src/gate/session/session-tables.ts';
import { inTransaction } from '../../support/node-session.ts';

const policy: Policy = {
  allowed_tools: ['get_order'],
  approvers: [],
  customer_scope: 'any',
  limits: {},
  customer_pattern: '^[!-~]+$',
  max_refund_cents: 1,
  max_session_refund_cents: null,
  confirm_above_cents: 0,
  max_steps: 10,
  max_duplicate_calls: 3,
  approval_ttl_seconds: 60,
  identical_effects: 'replay',
};
const row = {
  ...{ uid: 'u', caller_id: 'c', session_id: 's', customer_id: null, requested_by: null },
  ...{ own: { max_steps: 5 }, expires_at: 2, touched_at: 1 },
};

/** An open session's tables, the same as a later life of the object finds them, and the statements that were run. */
function opened() {
  const database = new DatabaseSync(':memory:');
  const statements: string[] = [];
  const sql: SessionSql = {
    all(text, ...params) {
      statements.push(text);
      return database.prepare(text).all(...params) as SqlRow[];
    },
    transaction: (run) => inTransaction(database, run),
  };
  const tables = new SessionTables(sql);
  tables.transaction(() => {
    createTables(tables);
    insertSession(tables, row, { version: 1, name: 'Shop', policy, revoked: false, pauses: [] });
  });
  statements.splice(0);
  return { tables, statements, reborn: () => new SessionTables(sql) };
}

describe("the session's row", () => {
  it('is read from memory between writes', () => {
    const { tables, statements } = opened();
    for (const _ of [1, 2, 3]) readSession(tables);
    expect(statements).toEqual([]);
  });

  it('is in memory what a later life of the object reads', () => {
    const { tables, reborn } = opened();
    takeChange(tables, { version: 2, name: 'Shop 2', policy: { ...policy, max_steps: 3 }, revoked: true, pauses: [] });
    markEnded(tables, 7);
    expect(readSession(tables)).toMatchObject({ policy_version: 2, revoked: true, ended_at: 7 });
    expect(readSession(reborn())).toEqual(readSession(tables));
  });

  it('is as before after a transaction that was rolled back', () => {
    const { tables } = opened();
    const before = theSession(tables);
    const failing = (): void => {
      markEnded(tables, 7);
      throw new Error('no');
    };
    expect(() => tables.transaction(failing)).toThrow('no');
    expect(theSession(tables)).toEqual(before);
  });
});

const logged = (changes: Partial<Indexed>): Indexed => ({
  ...{ seq: 1, kind: 'call', step: 1, call_id: 'a', key: 'k', attempt: null, code: 'OK', fingerprint: 'f' },
  ...{ restarts: false, notice: false, stored: 0 },
  ...changes,
});

describe('the index of the log', () => {
  it('is empty again after a transaction that was rolled back', () => {
    const { tables } = opened();
    const failing = (): void => {
      indexOf(tables).add(logged({}));
      throw new Error('no');
    };
    expect(() => tables.transaction(failing)).toThrow('no');
    expect(indexOf(tables).placeOf('a')).toBe(null);
  });

  it('gives an id to the first call by step, and of its repetitions to the latest', () => {
    const index = indexOf(opened().tables);
    index.add(logged({ seq: 1, step: 2, fingerprint: 'second' }));
    index.add(logged({ seq: 2, step: 1, fingerprint: 'first' }));
    index.add(logged({ seq: 3, step: 3, fingerprint: 'first' }));
    index.add(logged({ seq: 4, step: 4, fingerprint: 'first', code: 'CALL_ID_REUSED' }));
    expect(index.placeOf('a')).toBe(3);
  });

  it('counts the calls of a key since its last restart, and reads since the last applied effect', () => {
    const index = indexOf(opened().tables);
    index.add(logged({ seq: 1, step: 1 }));
    index.add(logged({ seq: 2, step: 2, key: 'effect', attempt: 1 }));
    index.add(logged({ seq: 3, step: 3 }));
    expect([index.countCalls('k', 'none'), index.countCalls('k', 'keyed')]).toEqual([1, 2]);
    index.add(logged({ seq: 4, kind: 'event', step: null, restarts: true }));
    expect(index.countCalls('k', 'keyed')).toBe(0);
  });

  it('keeps a claim until its step has a row', () => {
    const index = indexOf(opened().tables);
    index.claimed({ key: 'k', round: 1, step: 5, call_id: 'a' });
    index.add(logged({ step: 4, fingerprint: 'other' }));
    expect(index.unansweredClaim('a')).toMatchObject({ step: 5 });
    index.add(logged({ seq: 2, step: 5 }));
    expect(index.unansweredClaim('a')).toBe(null);
  });
});
