/** What the platform calls, wired to the rooms. The only file that loads the session object and the mail consumer. */
import { createApp } from './app.ts';
import { readConfig } from './env.ts';
import { objectStub, sessionStub } from './http/shared/context.ts';
import { readCallerChange } from './ledger/callers.ts';
import { ledgerSql } from './ledger/d1.ts';
import { sessionsToWake } from './ledger/sessions.ts';
import { logLine } from './log-line.ts';
import { buryDeadLetters, consumeMessages } from './mail/consumer.ts';
import { sessionClass } from './session/session.ts';
import type { Tool } from './tool/define-tool.ts';
import { registryOf, type Registry } from './tool/registry.ts';

const DEAD_LETTERS = 'toolgate-dead';

/** One run wakes at most this many; the next run goes on, because a session that was woken arms its own alarm. */
const WOKEN_A_RUN = 500;

/**
 * A gate for these tools: the Worker's handlers, and the class of its Durable Object. Throws where two tools have one name
 * or a tool's declaration is illegal, so a bad list fails the deployment and not a call.
 */
export function createToolgate({ tools }: { tools: readonly Tool[] }) {
  const registry = registryOf(tools);
  return { Session: sessionClass(registry), handler: handlerOf(registry) };
}

function handlerOf(registry: Registry) {
  const app = createApp(registry);
  return {
    fetch(request: Request, env: Env, ctx: ExecutionContext): Promise<Response> {
      const answer = Promise.resolve(app.fetch(request, env, ctx));
      // A client that disconnects cancels unfinished work; half of a caller's sessions would not hear of its revocation.
      ctx.waitUntil(answer);
      return answer;
    },

    async queue(batch: MessageBatch, env: Env): Promise<void> {
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
        print: (line) => console.log(line),
      });
    },

    /** The platform gives an alarm up after six failures: this finds the sessions that still have work. */
    async scheduled(_controller: ScheduledController, env: Env): Promise<void> {
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
}
