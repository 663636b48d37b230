/** The Worker's HTTP surface over a session that a test plays or brings, with a good token for it. */
import { app } from './tools.ts';
import { signSessionToken } from '../../src/gate/auth/tokens.ts';
import { readConfig } from '../../src/gate/env.ts';
import type { CallAnswer, CallRequest, SessionRpc } from '../../src/gate/session/rpc.ts';

const variables = {
  PUBLIC_URL: 'https://toolgate.test',
  ADMIN_TOKEN: 'a'.repeat(64),
  TOOLGATE_SECRET: 'b'.repeat(64),
  MAIL_FROM: 'gate@toolgate.test',
};

/** What a test's session does; whatever else is asked of it is a fault of the test. */
export type PlayedSession = Pick<SessionRpc, 'call' | 'tools'>;

export async function agentApp(session: PlayedSession, uid = 'uid_1') {
  const reading = readConfig(variables);
  if (!reading.ok) throw new Error('the variables are not good');
  const claims = { caller: 'c'.repeat(16), session: 'chat-1', uid, expiresAt: Date.now() + 60_000 };
  const token = await signSessionToken(reading.config, claims);
  const bindings = {
    ...variables,
    SESSION: { getByName: () => session },
    FAILED_CREDENTIALS: { limit: async () => ({ success: true }) },
  };
  const ask = async (path: string, authorization: string, init: RequestInit = {}): Promise<Response> => {
    const headers = { authorization, 'content-type': 'application/json', ...init.headers };
    return app.request(`${variables.PUBLIC_URL}${path}`, { ...init, headers }, bindings);
  };
  const good = `Bearer ${token}`;
  return {
    get: (path: string, authorization = good) => ask(path, authorization),
    post: (path: string, body: unknown, authorization = good, headers: Record<string, string> = {}) =>
      ask(path, authorization, {
        method: 'POST',
        body: typeof body === 'string' ? body : JSON.stringify(body),
        headers,
      }),
  };
}

/** The answer of a session that did what was asked, as its `step`th of ten. */
export const doneAt = (step: number, { call_id, tool }: CallRequest): CallAnswer => ({
  outcome: { call_id, tool, ok: true, code: 'OK', step, replayed: false, data: { step } },
  max_steps: 10,
  steps_left: 10 - step,
  audit: { seq: step, hash: `hash${step}` },
});
