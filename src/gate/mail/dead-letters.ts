/** The last stop of a queue message: no mail leaves from here, so it is made visible that it never left. */
import type { QueueMessage, SessionRpc } from '../session/rpc.ts';
import { inTime } from '../time.ts';
import { tellChange, type TellPorts } from './consumer.ts';
import { backoffSeconds, errorCode, HANDLING_MS, queueMessageSchema, type Log } from './queue-message.ts';

export type DeadLetterPorts = Pick<TellPorts, 'callerChange'> & {
  session: (object: string) => Pick<SessionRpc, 'delivered' | 'tell'>;
  log: Log;
};

/**
 * Marks the address of an approval's mail undeliverable, still tells sessions of their caller's change, and logs everything.
 * A change that is lost would leave a removed approver's link and a revoked agent's reads good until the session ends. While
 * the object cannot be reached, or the Worker is not configured, it is tried again: a hundred times, which is four days.
 */
export async function buryDeadLetters(batch: MessageBatch, ports: DeadLetterPorts): Promise<void> {
  await Promise.all(batch.messages.map((message) => bury(message, ports)));
}

async function bury(message: Message, ports: DeadLetterPorts): Promise<void> {
  const { log } = ports;
  const parsed = queueMessageSchema.safeParse(message.body);
  const ids = { message_id: message.id, ...parsed.data };
  try {
    if (parsed.success) await inTime(act(parsed.data, ports), HANDLING_MS);
    log({ event: 'dead_letter', ...ids, ...(parsed.success ? {} : { code: 'UNREADABLE_MESSAGE' }) });
    message.ack();
  } catch (error) {
    log({ event: 'dead_letter_failed', ...ids, code: errorCode(error), attempt: message.attempts });
    message.retry({ delaySeconds: backoffSeconds(message.attempts) });
  }
}

async function act(message: QueueMessage, ports: DeadLetterPorts): Promise<void> {
  if (message.type === 'approval') await ports.session(message.object).delivered(message, 'undeliverable');
  if (message.type === 'tell') await tellChange(message, ports);
}
