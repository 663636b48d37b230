import { describe, expect, it } from 'vitest';
import { messageOf, shownToolName, toOutcome, type Next, type Refusal } from '../../src/gate/outcome.ts';

const head = { call_id: 'c1', tool: 'refund_order', step: 3 };
const approval = { id: 'apr_1', status: 'pending', expires_at: '2026-12-01T00:00:00.000Z', arguments: {} } as const;

/** One refusal of each code, and what docs/specification.md#one-call has the model do about it. */
const refusals: { [Code in Refusal['code']]: [Extract<Refusal, { code: Code }>, Next] } = {
  STEP_LIMIT: [{ code: 'STEP_LIMIT', max_steps: 10 }, 'stop_and_tell_user'],
  UNKNOWN_TOOL: [{ code: 'UNKNOWN_TOOL', available: ['get_order'] }, 'fix_and_retry'],
  TOOL_NOT_ALLOWED: [{ code: 'TOOL_NOT_ALLOWED' }, 'stop_and_tell_user'],
  RESPONSE_INCOMPLETE: [{ code: 'RESPONSE_INCOMPLETE', said: 'stop_reason is "max_tokens"' }, 'fix_and_retry'],
  INVALID_JSON: [{ code: 'INVALID_JSON', reason: 'the text is empty' }, 'fix_and_retry'],
  INVALID_ARGUMENTS: [
    { code: 'INVALID_ARGUMENTS', problems: [{ field: 'a', issue: 'b', hint: 'c' }] },
    'fix_and_retry',
  ],
  CALL_ID_REUSED: [{ code: 'CALL_ID_REUSED' }, 'fix_and_retry'],
  LOOP_DETECTED: [{ code: 'LOOP_DETECTED', max_duplicate_calls: 3 }, 'use_previous_result'],
  POLICY_LIMIT: [
    { code: 'POLICY_LIMIT', limit: { name: 'approvers' }, passed_on: false, money: null },
    'stop_and_tell_user',
  ],
  CONFIRMATION_REQUIRED: [{ code: 'CONFIRMATION_REQUIRED', approval }, 'wait_for_approval'],
  CONFIRMATION_REJECTED: [{ code: 'CONFIRMATION_REJECTED', note: 'no photo' }, 'stop_and_tell_user'],
  TIMEOUT: [{ code: 'TIMEOUT' }, 'stop_and_tell_user'],
  UPSTREAM_UNAVAILABLE: [{ code: 'UPSTREAM_UNAVAILABLE', sent: true }, 'stop_and_tell_user'],
  INTERNAL_ERROR: [{ code: 'INTERNAL_ERROR', error_id: 'err_1' }, 'stop_and_tell_user'],
  FACTS_CHANGED: [{ code: 'FACTS_CHANGED' }, 'stop_and_tell_user'],
  TOOL_CHANGED: [{ code: 'TOOL_CHANGED' }, 'stop_and_tell_user'],
  CALLER_REVOKED: [{ code: 'CALLER_REVOKED' }, 'stop_and_tell_user'],
  SESSION_ENDED: [{ code: 'SESSION_ENDED' }, 'stop_and_tell_user'],
  PAUSED: [{ code: 'PAUSED' }, 'stop_and_tell_user'],
  SUBJECT_BUSY: [{ code: 'SUBJECT_BUSY' }, 'stop_and_tell_user'],
  ANSWER_UNREADABLE: [{ code: 'ANSWER_UNREADABLE' }, 'stop_and_tell_user'],
  SETTLED_NOT_APPLIED: [{ code: 'SETTLED_NOT_APPLIED' }, 'stop_and_tell_user'],
  WITHDRAWN: [{ code: 'WITHDRAWN' }, 'stop_and_tell_user'],
  APPROVAL_EXPIRED: [{ code: 'APPROVAL_EXPIRED' }, 'stop_and_tell_user'],
  TOO_MANY_POLLS: [{ code: 'TOO_MANY_POLLS' }, 'wait_for_approval'],
  TOOL_CODE: [{ code: 'TOOL_CODE', tool_code: 'ORDER_NOT_FOUND', message: 'No such order.' }, 'fix_and_retry'],
};

describe('toOutcome', () => {
  it.each(Object.values(refusals))('tells what to do about $code', (refusal, next) => {
    const code = refusal.code === 'TOOL_CODE' ? 'ORDER_NOT_FOUND' : refusal.code;
    const outcome = toOutcome(head, { ok: false, refusal });
    expect(outcome).toMatchObject({ ...head, ok: false, code, replayed: false, next });
    expect(outcome.message).toMatch(/\.$|^a b \(c\)$|no photo$|err_1$/);
    expect(outcome).not.toHaveProperty('data');
  });

  it("tells a tool's own code as the tool declares it", () => {
    const refusal = { code: 'TOOL_CODE', tool_code: 'NOTHING_LEFT', message: 'x', next: 'stop_and_tell_user' } as const;
    expect(toOutcome(head, { ok: false, refusal })).toMatchObject({ code: 'NOTHING_LEFT', next: 'stop_and_tell_user' });
  });

  it('adds what only that code has, and nothing where it has none', () => {
    const shared = ['call_id', 'code', 'message', 'next', 'ok', 'replayed', 'step', 'tool'];
    const more: Record<string, string> = {
      INVALID_ARGUMENTS: 'problems',
      UNKNOWN_TOOL: 'available',
      CONFIRMATION_REQUIRED: 'approval',
    };
    for (const [refusal] of Object.values(refusals)) {
      const added = more[refusal.code];
      const names = Object.keys(toOutcome(head, { ok: false, refusal }));
      expect(new Set(names), refusal.code).toEqual(new Set(added === undefined ? shared : [...shared, added]));
    }
  });

  it('holds data, and no advice, where it is done', () => {
    const done = toOutcome({ ...head, deprecated: 'refund_order_v2' }, { ok: true, data: { a: 1 }, replayed: true });
    expect(done).toEqual({
      ...head,
      deprecated: 'refund_order_v2',
      ok: true,
      code: 'OK',
      replayed: true,
      data: { a: 1 },
    });
  });
});

describe('messageOf', () => {
  it('says of a limit that it was passed on only where it was', () => {
    const limits = [
      { name: 'max_refund_cents', limit_cents: 50_000, currency: 'BRL' },
      { name: 'max_session_refund_cents', limit_cents: 50_000, currency: 'BRL' },
      { name: 'pending_approvals', limit: 3 },
      { name: 'opened_approvals', limit: 10 },
      { name: 'approvers' },
    ] as const;
    for (const limit of limits) {
      expect(messageOf({ code: 'POLICY_LIMIT', limit, passed_on: true, money: null })).toContain('It was passed on');
      expect(messageOf({ code: 'POLICY_LIMIT', limit, passed_on: false, money: null })).not.toContain('passed on');
    }
  });

  it('says that nothing was changed only where nothing can have been', () => {
    expect(messageOf({ code: 'UPSTREAM_UNAVAILABLE', sent: false })).toContain('Nothing was changed.');
    expect(messageOf({ code: 'UPSTREAM_UNAVAILABLE', sent: true })).not.toContain('Nothing was changed.');
  });

  it('names get_approval in answers that wait for a person', () => {
    const told = (['pending', 'approved'] as const).map((status) =>
      messageOf({ code: 'CONFIRMATION_REQUIRED', approval: { ...approval, status } }),
    );
    expect(new Set(told).size).toBe(2);
    for (const text of told) expect(text).toContain('get_approval');
  });
});

describe('shownToolName', () => {
  it('is at most 40 characters of a safe alphabet', () => {
    expect(shownToolName('refund_order')).toBe('refund_order');
    expect(shownToolName('a b\n<é>\u202e😀\ud83d')).toBe('a?b???????');
    expect(shownToolName('😀'.repeat(100))).toBe('?'.repeat(40));
  });
});
