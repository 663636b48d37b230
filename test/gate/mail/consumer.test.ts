import { afterEach, describe, expect, it, vi } from 'vitest';
import { consumeMessages, type MailPorts } from '../../../src/gate/mail/consumer.ts';
import type { LogLine } from '../../../src/gate/mail/queue-message.ts';
import type { CallerChange } from '../../../src/gate/ports.ts';
import type { MailTask, QueueMessage } from '../../../src/gate/session/rpc.ts';
import { approvalView } from '../../support/approval-view.ts';
import { queueBatch } from '../../support/queue-batch.ts';
import { revokedCaller } from '../../support/revoked-caller.ts';

const LINK = 'https://toolgate.test/approvals/apr_0f3e9c2ab7d84461b5a0c6e1d29f7a48?t=header.claims.signature';
const OBJECT = 'e'.repeat(64);

const message = (approver = 0): QueueMessage => ({
  type: 'approval',
  object: OBJECT,
  approval_id: 'apr_0f3e9c2ab7d84461b5a0c6e1d29f7a48',
  approver,
});
const tell: QueueMessage = { type: 'tell', object: OBJECT, caller_id: 'c'.repeat(16) };
const task = (to = 'ana@shop.example'): MailTask => ({ kind: 'approval', to, link: LINK, view: approvalView() });

const mailError = (code: string): Error => Object.assign(new Error(`could not send to ana@shop.example`), { code });

/** Ports whose mail service works; what it was asked for is kept. */
function mailPorts(changes: Partial<MailPorts> & { task?: (message: QueueMessage) => MailTask | null } = {}) {
  const sent: EmailMessageBuilder[] = [];
  const delivered: unknown[] = [];
  const told: CallerChange[] = [];
  const log: LogLine[] = [];
  const printed: string[] = [];
  const ports: MailPorts = {
    config: { mailFrom: 'gate@toolgate.test', loopback: false },
    email: {
      send: (mail: EmailMessage | EmailMessageBuilder) => {
        sent.push(mail as EmailMessageBuilder);
        return Promise.resolve({ messageId: 'sent' });
      },
    },
    session: () => ({
      mailTask: (asked) => Promise.resolve((changes.task ?? (() => task()))(asked)),
      delivered: (of, result) => Promise.resolve(void delivered.push([of, result])),
      tell: (of) => Promise.resolve(void told.push(of)),
    }),
    callerChange: () => Promise.resolve(revokedCaller),
    log: (line) => log.push(line),
    print: (line) => printed.push(line),
    ...changes,
  };
  return { ports, sent, delivered, told, log, printed };
}

const failingWith = (code: string, address = 'ana@shop.example'): MailPorts['email'] => ({
  send: (mail: EmailMessage | EmailMessageBuilder) =>
    mail.to === address ? Promise.reject(mailError(code)) : Promise.resolve({ messageId: 'sent' }),
});

afterEach(() => void vi.useRealTimers());

describe('consumeMessages', () => {
  it('sends the mail and then tells the session that it left', async () => {
    const { ports, sent, delivered } = mailPorts();
    const { batch, fates } = queueBatch([message()]);
    await consumeMessages(batch, ports);
    expect(sent).toHaveLength(1);
    expect(sent[0]).toMatchObject({
      from: { email: 'gate@toolgate.test' },
      to: 'ana@shop.example',
      subject: 'Toolgate: your decision is needed (apr_0f3e9c2ab7d84461b5a0c6e1d29f7a48)',
      headers: { 'Auto-Submitted': 'auto-generated' },
    });
    expect(delivered).toEqual([[message(), 'sent']]);
    expect(fates).toEqual([{ ack: true, retryDelaySeconds: null }]);
  });

  it('sends nothing where there is nothing to send any more', async () => {
    const { ports, sent, delivered } = mailPorts({ task: () => null });
    const { batch, fates } = queueBatch([message()]);
    await consumeMessages(batch, ports);
    expect({ sent, delivered }).toEqual({ sent: [], delivered: [] });
    expect(fates).toEqual([{ ack: true, retryDelaySeconds: null }]);
  });

  it('tells the session the present state of its caller', async () => {
    const { ports, told, sent } = mailPorts();
    const { batch, fates } = queueBatch([tell]);
    await consumeMessages(batch, ports);
    expect({ told, sent }).toEqual({ told: [revokedCaller], sent: [] });
    expect(fates).toEqual([{ ack: true, retryDelaySeconds: null }]);
  });

  it.each([
    [1, 5],
    [2, 20],
    [3, 80],
    [4, 320],
    [9, 3_600],
  ])('tries again later after a failure: attempt %i, %i seconds', async (attempts, delay) => {
    const { ports, delivered } = mailPorts({ email: failingWith('E_DELIVERY_FAILED') });
    const { batch, fates } = queueBatch([message()], attempts);
    await consumeMessages(batch, ports);
    expect(fates).toEqual([{ ack: false, retryDelaySeconds: delay }]);
    expect(delivered).toEqual([]);
  });

  it('lets one bad mailbox of two not stop the other', async () => {
    const { ports, delivered } = mailPorts({
      email: failingWith('E_DELIVERY_FAILED'),
      task: (asked) => task(asked.type === 'approval' && asked.approver === 1 ? 'bo@shop.example' : 'ana@shop.example'),
    });
    const { batch, fates } = queueBatch([message(0), message(1)]);
    await consumeMessages(batch, ports);
    expect(fates.map(({ ack }) => ack)).toEqual([false, true]);
    expect(delivered).toEqual([[message(1), 'sent']]);
  });

  it.each([
    [null],
    ['text'],
    [{ type: 'approval' }],
    [{ ...message(), approval_id: 'a\r\nb' }],
    [{ ...tell, extra: 1 }],
  ])('passes by a message it cannot read: %j', async (poison) => {
    const { ports, delivered, log } = mailPorts();
    const { batch, fates } = queueBatch([poison, message()]);
    await consumeMessages(batch, ports);
    expect(fates).toEqual([
      { ack: false, retryDelaySeconds: 5 },
      { ack: true, retryDelaySeconds: null },
    ]);
    expect(delivered).toEqual([[message(), 'sent']]);
    expect(log).toContainEqual(expect.objectContaining({ message_id: 'message-0', code: 'UNREADABLE_MESSAGE' }));
  });

  it("shows a spent quota at once, and waits for the next day's", async () => {
    const { ports, delivered } = mailPorts({ email: failingWith('E_DAILY_LIMIT_EXCEEDED') });
    const { batch, fates } = queueBatch([message()]);
    await consumeMessages(batch, ports);
    expect(delivered).toEqual([[message(), 'undeliverable']]);
    expect(fates).toEqual([{ ack: false, retryDelaySeconds: 4 * 3_600 }]);
  });

  it('holds back no other message for one that hangs', async () => {
    vi.useFakeTimers();
    const { ports, log } = mailPorts({ email: { send: () => new Promise(() => undefined) } });
    const { batch, fates } = queueBatch([message(), tell]);
    const handled = consumeMessages(batch, ports);
    await vi.advanceTimersByTimeAsync(30_000);
    await handled;
    expect(fates).toEqual([
      { ack: false, retryDelaySeconds: 5 },
      { ack: true, retryDelaySeconds: null },
    ]);
    expect(log).toMatchObject([{ event: 'queue_message_failed', code: 'TIMEOUT' }]);
  });

  it.each(['E_RECIPIENT_NOT_ALLOWED', 'E_RECIPIENT_SUPPRESSED'])('gives an address up at once on %s', async (code) => {
    const { ports, delivered } = mailPorts({ email: failingWith(code) });
    const { batch, fates } = queueBatch([message()]);
    await consumeMessages(batch, ports);
    expect(delivered).toEqual([[message(), 'undeliverable']]);
    expect(fates).toEqual([{ ack: true, retryDelaySeconds: null }]);
  });

  it.each([
    'ana@shop.example\r\nBcc: all@shop.example',
    'ana@shop.example\n',
    'ana@shop.example, bo@shop.example',
    'Ana <ana@shop.example>',
    '"ana"@shop.example',
    'ana',
    'ana@',
    'аna@shop.example',
    `${'a'.repeat(65)}@shop.example`,
    `ana@${'shop.'.repeat(60)}example`,
    '',
  ])('never sends to %j', async (to) => {
    const { ports, sent, delivered } = mailPorts({ task: () => task(to) });
    const { batch } = queueBatch([message()]);
    await consumeMessages(batch, ports);
    expect(sent).toEqual([]);
    expect(delivered).toEqual([[message(), 'undeliverable']]);
  });

  it('logs ids and codes, never an address or a link', async () => {
    for (const email of [
      mailPorts().ports.email,
      failingWith('E_DELIVERY_FAILED'),
      failingWith('E_RECIPIENT_SUPPRESSED'),
    ]) {
      const { ports, log, printed } = mailPorts({ email });
      await consumeMessages(queueBatch([message()]).batch, ports);
      expect(log).toHaveLength(1);
      expect(log[0]).toMatchObject({ approval_id: 'apr_0f3e9c2ab7d84461b5a0c6e1d29f7a48', approver: 0 });
      expect(JSON.stringify(log)).not.toMatch(/@|:\/\/|25/);
      expect(printed).toEqual([]);
    }
  });

  it('shows the link on the console of a loopback deployment, also where the mail fails', async () => {
    const { ports, printed } = mailPorts({
      config: { mailFrom: 'gate@toolgate.test', loopback: true },
      email: failingWith('E_DELIVERY_FAILED'),
    });
    await consumeMessages(queueBatch([message()]).batch, ports);
    expect(printed).toEqual([`Approval apr_0f3e9c2ab7d84461b5a0c6e1d29f7a48: ${LINK}`]);
  });
});
