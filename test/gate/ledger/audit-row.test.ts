import { describe, expect, it } from 'vitest';
import { canonicalJson, sha256Hex } from '../../../src/gate/canonical.ts';
import { argumentsHash, chainHash, firstPrevious } from '../../../src/gate/ledger/audit-row.ts';
import { auditRow } from '../../support/audit-rows.ts';

const session = { caller_id: 'caller-1', session_id: 'chat-1', uid: 'uid-1' };

describe('chainHash', () => {
  it('is SHA-256 of RFC 8785 [1, previous hash, the row without arguments, salt and hash]', () => {
    const row = auditRow(session);
    const { arguments: _arguments, salt: _salt, hash: _hash, ...hashed } = row;
    expect(chainHash('previous', row)).toBe(sha256Hex(canonicalJson([1, 'previous', hashed])));
  });

  it('does not change when arguments are erased or withheld', () => {
    const row = auditRow(session);
    const erased = { ...row, arguments: null, salt: null, withheld: true };
    expect(chainHash('previous', erased)).toBe(chainHash('previous', row));
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
