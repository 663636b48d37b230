import { afterEach, describe, expect, it, vi } from 'vitest';
import { buryDeadLetters } from '../../../src/gate/mail/consumer.ts';
import type { LogLine } from '../../../src/gate/mail/queue-message.ts';
import type { CallerChange } from '../../../src/gate/ports.ts';
import type { QueueMessage } from '../../../src/gate/session/rpc.ts';
import { queueBatch } from '../../support/queue-batch.ts';
import { revokedCaller } from '../../support/revoked-caller.ts';

const OBJECT = 'e'.repeat(64);
const approval: QueueMessage = { type: 'approval', object: OBJECT, approval_id: 'apr_1', approver: 1 };
const notice: QueueMessage = { type: 'notice', object: OBJECT, seq: 4, approver: 0 };
const tell: QueueMessage = { type: 'tell', object: OBJECT, caller_id: 'c'.repeat(16) };

function deadLetterPorts(fails = false) {
  const delivered: unknown[] = [];
  const told: unknown[] = [];
  const log: LogLine[] = [];
  const session = () => ({
    delivered: (of: QueueMessage, result: string) =>
      fails ? Promise.reject(new Error('gone')) : Promise.resolve(void delivered.push([of, result])),
    tell: (of: CallerChange) => (fails ? Promise.reject(new Error('gone')) : Promise.resolve(void told.push(of))),
  });
  const callerChange = () => Promise.resolve(revokedCaller);
  return { ports: { session, callerChange, log: (line: LogLine) => void log.push(line) }, delivered, told, log };
}

afterEach(() => void vi.useRealTimers());

describe('buryDeadLetters', () => {
  it("marks the address of an approval's mail undeliverable", async () => {
    const { ports, delivered } = deadLetterPorts();
    const { batch, fates } = queueBatch([approval]);
    await buryDeadLetters(batch, ports);
    expect(delivered).toEqual([[approval, 'undeliverable']]);
    expect(fates).toEqual([{ ack: true, retryDelaySeconds: null }]);
  });

  it("still tells a session of its caller's change: else a revoked agent would read on", async () => {
    const { ports, told } = deadLetterPorts();
    const { batch, fates } = queueBatch([tell]);
    await buryDeadLetters(batch, ports);
    expect(told).toEqual([revokedCaller]);
    expect(fates).toEqual([{ ack: true, retryDelaySeconds: null }]);
  });

  it('logs what it can do nothing about, and is done with it', async () => {
    const { ports, delivered, told, log } = deadLetterPorts();
    const { batch, fates } = queueBatch([notice, { type: 'unheard-of', to: 'ana@shop.example' }]);
    await buryDeadLetters(batch, ports);
    expect([...delivered, ...told]).toEqual([]);
    expect(fates.every(({ ack }) => ack)).toBe(true);
    expect(new Set(log)).toEqual(
      new Set([
        { event: 'dead_letter', message_id: 'message-0', ...notice },
        { event: 'dead_letter', message_id: 'message-1', code: 'UNREADABLE_MESSAGE' },
      ]),
    );
  });

  it('holds back no other message for one that hangs', async () => {
    vi.useFakeTimers();
    const { ports } = deadLetterPorts();
    const { batch, fates } = queueBatch([tell, approval]);
    const handled = buryDeadLetters(batch, { ...ports, callerChange: () => new Promise(() => undefined) });
    await vi.advanceTimersByTimeAsync(30_000);
    await handled;
    expect(fates.map(({ ack }) => ack)).toEqual([false, true]);
  });

  it.each([approval, tell])('keeps the $type message where the session cannot be reached', async (message) => {
    const { ports } = deadLetterPorts(true);
    const { batch, fates } = queueBatch([message], 2);
    await buryDeadLetters(batch, ports);
    expect(fates).toEqual([{ ack: false, retryDelaySeconds: 20 }]);
  });
});
