import { describe, expect, it } from 'vitest';
import { canonicalJson, sha256Hex } from '../../../src/gate/canonical.ts';
import {
  approverHash,
  argumentsHash,
  chainHash,
  firstPrevious,
  resultHash,
  withheldRow,
} from '../../../src/gate/ledger/audit-row.ts';
import { auditRow } from '../../support/audit-rows.ts';

const session = { caller_id: 'caller-1', session_id: 'chat-1', uid: 'uid-1' };

describe('chainHash', () => {
  it('is SHA-256 of RFC 8785 [2, previous hash, the row without arguments, salt and hash]', () => {
    const row = auditRow(session);
    const { arguments: _arguments, salt: _salt, hash: _hash, ...hashed } = row;
    expect(chainHash('previous', row)).toBe(sha256Hex(canonicalJson([2, 'previous', hashed])));
  });

  it('does not change when arguments are erased or withheld', () => {
    const row = auditRow(session);
    const erased = { ...row, arguments: null, salt: null, withheld: true };
    expect(chainHash('previous', erased)).toBe(chainHash('previous', row));
  });

  it.each([
    'stage',
    'policy_version',
    'candidate',
    'reason',
    'trace_id',
    'result_hash',
    'approver_hash',
    'shown_hash',
    'args_hash',
    'kept_hash',
    'arguments_cut',
    'arguments_omitted',
  ])('changes with %s', (member) => {
    const row = auditRow(session);
    expect(chainHash('previous', { ...row, [member]: 'other' })).not.toBe(chainHash('previous', row));
  });
});

describe('firstPrevious', () => {
  it('is SHA-256 of RFC 8785 [caller, session, uid]', () => {
    expect(firstPrevious('caller-1', 'chat-1', 'uid-1')).toBe(sha256Hex('["caller-1","chat-1","uid-1"]'));
  });
});

describe('argumentsHash', () => {
  it('is SHA-256 of RFC 8785 [salt, arguments]', () => {
    expect(argumentsHash('s', '{"a":1}')).toBe(sha256Hex(String.raw`["s","{\"a\":1}"]`));
  });
});

describe('approverHash', () => {
  it('is SHA-256 of RFC 8785 [salt, address in lower case]', () => {
    expect(approverHash('s', 'Ana@Shop.test')).toBe(sha256Hex('["s","ana@shop.test"]'));
  });
});

describe('resultHash', () => {
  const result = { subject: 'ORD-1001', amount: 2590, currency: 'BRL', answer: { b: 1, a: 'x' } };

  it('is SHA-256 of RFC 8785 {subject, amount, currency, answer}', () => {
    const text = '{"amount":2590,"answer":{"a":"x","b":1},"currency":"BRL","subject":"ORD-1001"}';
    expect(resultHash(result)).toBe(sha256Hex(text));
  });

  it('can be computed of an answer that holds half a surrogate pair', () => {
    const [lone, replaced] = [{ '\ud800': ['\udc00'] }, { '\ufffd': ['\ufffd'] }];
    expect(resultHash({ ...result, answer: lone })).toBe(resultHash({ ...result, answer: replaced }));
  });
});

describe('withheldRow', () => {
  it('leaves the arguments and their salt out, but keeps the salt of an approver', () => {
    const call = auditRow(session);
    expect(withheldRow(call)).toEqual({ ...call, arguments: null, salt: null, withheld: true });
    const decision = auditRow(session, { kind: 'decision', approver_hash: 'h' });
    expect(withheldRow(decision)).toMatchObject({ arguments: null, salt: decision.salt });
  });
});
