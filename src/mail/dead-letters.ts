/** The last stop of a queue message: nobody tries again, so it is made visible that its mail never left. */
import type { SessionRpc } from '../session/rpc.ts';
import { backoffSeconds, errorCode, queueMessageSchema, type Log } from './queue-message.ts';

export type DeadLetterPorts = {
  session: (object: string) => Pick<SessionRpc, 'delivered'>;
  log: Log;
};

/**
 * Marks the address of an approval's mail undeliverable and logs everything else. What was to be told to a session is safe to
 * lose: the ledger asks itself whether a caller is live.
 */
export async function buryDeadLetters(batch: MessageBatch, ports: DeadLetterPorts): Promise<void> {
  await Promise.all(batch.messages.map((message) => bury(message, ports)));
}

async function bury(message: Message, { session, log }: DeadLetterPorts): Promise<void> {
  const parsed = queueMessageSchema.safeParse(message.body);
  const ids = { message_id: message.id, ...parsed.data };
  try {
    if (parsed.data?.type === 'approval') await session(parsed.data.object).delivered(parsed.data, 'undeliverable');
    log({ event: 'dead_letter', ...ids, ...(parsed.success ? {} : { code: 'UNREADABLE_MESSAGE' }) });
    message.ack();
  } catch (error) {
    log({ event: 'dead_letter_failed', ...ids, code: errorCode(error), attempt: message.attempts });
    message.retry({ delaySeconds: backoffSeconds(message.attempts) });
  }
}
