/** The Worker's entry: what the platform calls, wired to the rooms. The only file that imports session and mail by value. */
import { app } from './gate/app.ts';
import { readConfig } from './gate/env.ts';
import { objectStub, sessionStub } from './gate/http/shared/context.ts';
import { logLine } from './gate/log-line.ts';
import { consumeMessages } from './gate/mail/consumer.ts';
import { buryDeadLetters } from './gate/mail/dead-letters.ts';
import { readCallerChange } from './gate/ledger/callers.ts';
import { ledgerSql } from './gate/ledger/d1.ts';
import { sessionsToWake } from './gate/ledger/sessions.ts';
import { toolNamed } from './tools/index.ts';

export { Session } from './gate/session/session.ts';

const DEAD_LETTERS = 'toolgate-dead';

/** One run wakes at most this many; the next run goes on, since a session that was woken arms its own alarm. */
const WOKEN_A_RUN = 500;

export default {
  fetch(request: Request, env: Env, ctx: ExecutionContext): Promise<Response> {
    const answer = Promise.resolve(app.fetch(request, env, ctx));
    // A client that has gone cancels what nobody waits for: half of a caller's sessions would not hear of its revocation.
    ctx.waitUntil(answer);
    return answer;
  },

  async queue(batch, env) {
    const ports = {
      session: (object: string) => objectStub(env, object),
      callerChange: (callerId: string) => readCallerChange(ledgerSql(env.DB), callerId),
      log: logLine,
    };
    if (batch.queue === DEAD_LETTERS) return buryDeadLetters(batch, ports);
    const reading = readConfig(env);
    // Nothing is lost: the messages come again, and end as dead letters, which are tried for four days.
    if (!reading.ok) throw new Error(`not configured: ${reading.flaws.join('; ')}`);
    return consumeMessages(batch, {
      ...ports,
      config: reading.config,
      email: env.EMAIL,
      inputSchema: (tool) => toolNamed(tool)?.inputSchema ?? null,
      print: (line) => console.log(line),
    });
  },

  /** The platform gives an alarm up after six failures: this finds the sessions that still have work. */
  async scheduled(_controller, env) {
    const places = await sessionsToWake(ledgerSql(env.DB), Date.now(), WOKEN_A_RUN);
    const woken = await Promise.allSettled(
      places.map(({ caller_id, session_id }) => sessionStub(env, caller_id, session_id).wake()),
    );
    logLine({
      event: 'sessions_woken',
      asked: places.length,
      failed: woken.filter(({ status }) => status === 'rejected').length,
    });
  },
} satisfies ExportedHandler<Env>;
