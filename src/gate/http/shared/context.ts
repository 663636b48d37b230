/** What every route of the Worker shares: the Hono environment, and the way to a session's object. */
import type { Context } from 'hono';
import { sessionObjectName } from '../../auth/tokens.ts';
import type { Config } from '../../env.ts';
import type { SessionRpc } from '../../session/rpc.ts';
import type { Registry } from '../../tool/registry.ts';

export type HttpEnv = {
  Bindings: Env;
  Variables: {
    registry: Registry;
    /** Absent only on `/healthz` and on the answer that says so (503 `not-configured`). */
    config: Config;
    /** Known while something else of the configuration is not. */
    publicUrl?: string;
    /** Made here, never taken from a header: a client must not choose what the log and the audit call its request. */
    requestId: string;
    /** Why a request was refused, in fixed words; it goes to the log line and never to the client. */
    reason?: string;
    /** Whether the session object wrote a log line for each call of this request. */
    isLogged?: boolean;
  };
};

export type HttpContext = Context<HttpEnv>;

/**
 * The object of that name. Naming one reaches nothing and stores nothing: an object makes its tables only when a session is
 * opened, so asking a foreign or unknown one leaves no trace.
 */
export function objectStub(env: Pick<Env, 'SESSION'>, name: string): SessionRpc {
  // By way of `unknown`: comparing the stub's type with the interface member by member exceeds the compiler's depth.
  const stub: unknown = env.SESSION.getByName(name);
  return stub as SessionRpc;
}

/** The object that keeps this caller's session of this name. */
export function sessionStub(env: Pick<Env, 'SESSION'>, caller: string, session: string): SessionRpc {
  return objectStub(env, sessionObjectName(caller, session));
}
