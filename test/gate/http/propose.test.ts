import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { propose, type Proposal } from '../../../src/gate/http/agent/send-call.ts';
import type { CallAnswer, CallRequest, SessionRpc } from '../../../src/gate/session/rpc.ts';

const proposal = (changes: Partial<Proposal> = {}): Proposal => ({
  uid: 'u1',
  tool: 'get_order',
  arguments: { order_id: 'ORD-1001' },
  request_id: 'r1',
  ...changes,
});

const answered: CallAnswer = {
  outcome: { call_id: 'c1', tool: 'get_order', ok: true, code: 'OK', step: 1, replayed: false, data: {} },
  max_steps: 10,
  steps_left: 9,
  audit: { seq: 1, hash: 'h' },
};

/** A session whose n-th stub answers with, or fails by, the n-th of `results`. */
function sessionOf(...results: (CallAnswer | Error)[]) {
  const heard: CallRequest[] = [];
  const freshStub = vi.fn(() => {
    const result = results.shift();
    const call = async (request: CallRequest): Promise<CallAnswer> => {
      heard.push(request);
      if (result === undefined) throw new Error('asked once too often');
      if (result instanceof Error) throw result;
      return result;
    };
    return { call } as unknown as SessionRpc;
  });
  return { freshStub, heard };
}

const died = () => Object.assign(new Error('object was reset'), { remote: true });

describe('propose', () => {
  let lines: string[];
  beforeEach(() => {
    lines = [];
    vi.spyOn(console, 'error').mockImplementation((line) => void lines.push(String(line)));
  });
  afterEach(() => void vi.restoreAllMocks());

  it('gives the outcome and its place in budget and audit', async () => {
    const { outcome, ...standing } = answered;
    expect(await propose(sessionOf(answered).freshStub, proposal())).toEqual({ outcome, standing });
  });

  it('keeps the call id it was given', async () => {
    const session = sessionOf(answered);
    await propose(session.freshStub, proposal({ call_id: 'mine' }));
    expect(session.heard[0]?.call_id).toBe('mine');
  });

  it('makes up a call id, another for every call', async () => {
    const [one, two] = [sessionOf(answered), sessionOf(answered)];
    await propose(one.freshStub, proposal());
    await propose(two.freshStub, proposal());
    expect(one.heard[0]?.call_id).toMatch(/^call_[0-9a-f]{32}$/);
    expect(one.heard[0]?.call_id).not.toBe(two.heard[0]?.call_id);
  });

  it('sends the very same call once more, over a new stub, when the object dies', async () => {
    const session = sessionOf(died(), answered);
    expect(await propose(session.freshStub, proposal())).toMatchObject({ outcome: { code: 'OK' } });
    expect(session.freshStub).toHaveBeenCalledTimes(2);
    expect(session.heard[1]).toEqual(session.heard[0]);
  });

  it('answers UPSTREAM_UNAVAILABLE without a step when it dies twice', async () => {
    const session = sessionOf(died(), died(), answered);
    expect(await propose(session.freshStub, proposal({ call_id: 'c7' }))).toMatchObject({
      outcome: { call_id: 'c7', tool: 'get_order', ok: false, code: 'UPSTREAM_UNAVAILABLE', step: null },
      standing: null,
    });
    expect(session.heard).toHaveLength(2);
  });

  it('does not hammer an object that is overloaded', async () => {
    const session = sessionOf(Object.assign(died(), { overloaded: true }), answered);
    expect(await propose(session.freshStub, proposal())).toMatchObject({ outcome: { code: 'UPSTREAM_UNAVAILABLE' } });
    expect(session.heard).toHaveLength(1);
  });

  it('passes a refusal on as it is', async () => {
    expect(await propose(sessionOf({ refused: 'session_exhausted' }).freshStub, proposal())).toEqual({
      refused: 'session_exhausted',
    });
  });

  it('logs each failure with the call id, without arguments or message', async () => {
    const failure = new Error('ORD-1001 of ana@shop.test');
    await propose(sessionOf(failure, failure).freshStub, proposal({ call_id: 'c7' }));
    expect(lines).toHaveLength(2);
    expect(lines[0]).toContain('"call_id":"c7"');
    expect(lines.join('')).not.toMatch(/ORD-1001|ana@/);
  });
});
