import { describe, expect, it } from 'vitest';
import type { Outcome } from '../../../src/gate/outcome.ts';
import type { CallAnswer, CallRequest } from '../../../src/gate/session/rpc.ts';
import { agentApp, doneAt } from '../../support/agent-app.ts';
import { message } from '../../support/mcp-app.ts';

/** A session that answers its calls with `answers`, in order; an error is an object that dies. */
function sessionWith(answers: (((call: CallRequest) => CallAnswer) | Error)[]) {
  const call = async (request: CallRequest): Promise<CallAnswer> => {
    const answer = answers.shift();
    if (answer === undefined || answer instanceof Error) throw answer ?? new Error('asked too often');
    return answer(request);
  };
  return agentApp({ call, tools: async () => ['get_order', 'refund_order'] });
}

const toolUse = (name: string) => ({ type: 'tool_use', id: name, name, input: {} });

describe('callsInARow', () => {
  it('tells of an effect whose fate is unknown, even if the session is gone by the next call', async () => {
    const { post } = await sessionWith([new Error('died'), new Error('died'), () => ({ refused: 'unauthorized' })]);
    const body = { content: [toolUse('refund_order'), toolUse('get_order')] };
    const response = await post('/v1/calls/anthropic', body);
    expect(response.status).toBe(200);
    const { outcomes } = await response.json<{ outcomes: Outcome[] }>();
    expect(outcomes.map(({ code }) => code)).toEqual(['UPSTREAM_UNAVAILABLE', 'SESSION_ENDED']);
    expect(outcomes[0]?.message).toContain('did not say');
  });

  it('lets one id that is used up keep no other call from the stages', async () => {
    const { post } = await sessionWith([
      (call) => doneAt(1, call),
      () => ({ refused: 'too_many_retries' }),
      (call) => doneAt(2, call),
    ]);
    const asking = (id: number, callId: string) =>
      message('tools/call', { name: 'refund_order', arguments: {}, _meta: { 'toolgate/call_id': callId } }, id);
    const response = await post('/mcp', [asking(1, 'same'), asking(2, 'same'), asking(3, 'other')]);
    const results = await response.json<{ id: number; result: { isError?: boolean } }[]>();
    expect(results.map(({ id, result }) => `${id} ${result.isError ?? false}`)).toEqual([
      '1 false',
      '2 true',
      '3 false',
    ]);
    expect(JSON.stringify(results[1])).toContain('CALL_ID_REUSED');
  });
});
