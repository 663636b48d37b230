import { describe, expect, it } from 'vitest';
import { buryDeadLetters } from '../../src/mail/dead-letters.ts';
import type { LogLine } from '../../src/mail/queue-message.ts';
import type { QueueMessage } from '../../src/session/rpc.ts';
import { queueBatch } from '../support/queue-batch.ts';

const OBJECT = 'e'.repeat(64);
const approval: QueueMessage = { type: 'approval', object: OBJECT, approval_id: 'apr_1', approver: 1 };
const notice: QueueMessage = { type: 'notice', object: OBJECT, seq: 4, approver: 0 };
const tell: QueueMessage = { type: 'tell', object: OBJECT, caller_id: 'c'.repeat(16) };

function deadLetterPorts(fails = false) {
  const delivered: unknown[] = [];
  const log: LogLine[] = [];
  const session = () => ({
    delivered: (of: QueueMessage, result: string) =>
      fails ? Promise.reject(new Error('gone')) : Promise.resolve(void delivered.push([of, result])),
  });
  return { ports: { session, log: (line: LogLine) => void log.push(line) }, delivered, log };
}

describe('buryDeadLetters', () => {
  it("marks the address of an approval's mail undeliverable", async () => {
    const { ports, delivered } = deadLetterPorts();
    const { batch, fates } = queueBatch([approval]);
    await buryDeadLetters(batch, ports);
    expect(delivered).toEqual([[approval, 'undeliverable']]);
    expect(fates).toEqual([{ ack: true, retryDelaySeconds: null }]);
  });

  it('logs what is no approval, and is done with it', async () => {
    const { ports, delivered, log } = deadLetterPorts();
    const { batch, fates } = queueBatch([notice, tell, { type: 'unheard-of', to: 'ana@shop.example' }]);
    await buryDeadLetters(batch, ports);
    expect(delivered).toEqual([]);
    expect(fates.every(({ ack }) => ack)).toBe(true);
    expect(log).toEqual([
      { event: 'dead_letter', message_id: 'message-0', ...notice },
      { event: 'dead_letter', message_id: 'message-1', ...tell },
      { event: 'dead_letter', message_id: 'message-2', code: 'UNREADABLE_MESSAGE' },
    ]);
  });

  it('keeps the message where the session cannot be reached', async () => {
    const { ports } = deadLetterPorts(true);
    const { batch, fates } = queueBatch([approval], 2);
    await buryDeadLetters(batch, ports);
    expect(fates).toEqual([{ ack: false, retryDelaySeconds: 20 }]);
  });
});
