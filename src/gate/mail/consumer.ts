/**
 * Sends the mails that sessions asked for, and tells sessions of changes of their caller that could not be told at once. A
 * queue message holds ids only: address, link and facts come from the session's object when the mail leaves, so that a
 * decided approval is not mailed any more and a removed approver gets nothing.
 * A queue delivers at least once, so a mail may leave twice; opening a link twice changes nothing.
 */
import type { Config } from '../env.ts';
import { MAX_ADDRESS_CHARACTERS, type CallerChange } from '../ports.ts';
import type { MailTask, QueueMessage, SessionRpc } from '../session/rpc.ts';
import { inTime } from '../time.ts';
import { approvalMail, decidedMail, noticeMail, type Mail } from './messages.ts';
import { backoffSeconds, errorCode, HANDLING_MS, queueMessageSchema, QUOTA_SPENT, type Log } from './queue-message.ts';

type TellPorts = {
  session: (object: string) => Pick<SessionRpc, 'tell'>;
  /** The current version of the caller; null if it does not exist. */
  callerChange: (callerId: string) => Promise<CallerChange | null>;
};

/** What the consumer needs of the Worker. */
export type MailPorts = Pick<TellPorts, 'callerChange'> & {
  config: Pick<Config, 'mailFrom' | 'loopback'>;
  email: Pick<SendEmail, 'send'>;
  session: (object: string) => Pick<SessionRpc, 'mailTask' | 'delivered' | 'tell'>;
  log: Log;
  /** Prints a line for the person at the console. Called only where PUBLIC_URL is loopback: a link in a log decides. */
  print: (line: string) => void;
};

/** Refuses an address that could carry a second header, recipient or display name. */
const ADDRESS = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~.-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63})*$/;

/** The mail service will never deliver to this address; trying again would only cost reputation. */
const NEVER_DELIVERABLE = new Set(['E_RECIPIENT_NOT_ALLOWED', 'E_RECIPIENT_SUPPRESSED']);

/** Handles the messages of a batch in parallel, so that one that hangs does not delay the others. */
export async function consumeMessages(batch: MessageBatch, ports: MailPorts): Promise<void> {
  await Promise.all(batch.messages.map((message) => consume(message, ports)));
}

async function consume(message: Message, ports: MailPorts): Promise<void> {
  const parsed = queueMessageSchema.safeParse(message.body);
  try {
    // Kept, because a newer version of this Worker may read it. Otherwise it ends as a dead letter.
    if (!parsed.success) throw new UnreadableMessage();
    await inTime(act(parsed.data, ports), HANDLING_MS);
    message.ack();
  } catch (error) {
    const code = error instanceof UnreadableMessage ? 'UNREADABLE_MESSAGE' : errorCode(error);
    const delaySeconds = backoffSeconds(message.attempts, code);
    ports.log({
      event: 'queue_message_failed',
      message_id: message.id,
      ...parsed.data,
      code,
      attempt: message.attempts,
      retry_in_seconds: delaySeconds,
    });
    message.retry({ delaySeconds });
  }
}

class UnreadableMessage extends Error {}

async function act(message: QueueMessage, ports: MailPorts): Promise<void> {
  if (message.type === 'tell') return tellChange(message, ports);
  const session = ports.session(message.object);
  const task = await session.mailTask(message);
  if (task === null) return;
  if (task.kind === 'approval' && ports.config.loopback) ports.print(`Approval ${task.view.id}: ${task.link}`);
  const failure = await send(task, ports).catch(async (error: unknown) => {
    // Seen at once, and taken back when it leaves: the quota may come back later than the approval lives.
    if (errorCode(error) === QUOTA_SPENT) await session.delivered(message, 'undeliverable');
    throw error;
  });
  await session.delivered(message, failure === null ? 'sent' : 'undeliverable');
  ports.log({
    event: failure === null ? 'mail_sent' : 'mail_undeliverable',
    ...message,
    ...(failure === null ? {} : { code: failure }),
  });
}

/** Harmless to repeat and in any order: a session keeps the newest. */
async function tellChange(
  { object, caller_id }: Extract<QueueMessage, { type: 'tell' }>,
  { session, callerChange }: TellPorts,
): Promise<void> {
  const change = await callerChange(caller_id);
  if (change !== null) await session(object).tell(change);
}

const mailFor = (task: MailTask): Promise<Mail> =>
  task.kind === 'approval' ? approvalMail(task) : task.kind === 'decided' ? decidedMail(task) : noticeMail(task);

/** Null where the mail left, a code where it never will. Throws where another try may help. */
async function send(task: MailTask, { config, email }: MailPorts): Promise<string | null> {
  if (task.to.length > MAX_ADDRESS_CHARACTERS || !ADDRESS.test(task.to)) return 'BAD_ADDRESS';
  const { subject, text, html }: Mail = await mailFor(task);
  try {
    await email.send({
      from: { email: config.mailFrom, name: 'Toolgate' },
      to: task.to,
      subject,
      text,
      html,
      // RFC 3834: answering machines do not reply to the sender.
      headers: { 'Auto-Submitted': 'auto-generated' },
    });
    return null;
  } catch (error) {
    const code = errorCode(error);
    if (NEVER_DELIVERABLE.has(code)) return code;
    throw error;
  }
}

export type DeadLetterPorts = Pick<MailPorts, 'callerChange' | 'log'> & {
  session: (object: string) => Pick<SessionRpc, 'delivered' | 'tell'>;
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
    if (parsed.success) await inTime(actOnLetter(parsed.data, ports), HANDLING_MS);
    log({ event: 'dead_letter', ...ids, ...(parsed.success ? {} : { code: 'UNREADABLE_MESSAGE' }) });
    message.ack();
  } catch (error) {
    log({ event: 'dead_letter_failed', ...ids, code: errorCode(error), attempt: message.attempts });
    message.retry({ delaySeconds: backoffSeconds(message.attempts) });
  }
}

async function actOnLetter(message: QueueMessage, ports: DeadLetterPorts): Promise<void> {
  if (message.type === 'approval') await ports.session(message.object).delivered(message, 'undeliverable');
  if (message.type === 'tell') await tellChange(message, ports);
}
