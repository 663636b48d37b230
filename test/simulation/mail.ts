/** The queue and the mail service of a simulated world: at least once, in any order, and sometimes not at all. */
import type { QueueMessage } from '../../src/gate/session/rpc.ts';
import type { Random } from './random.ts';
import type { Faults } from './scenario.ts';
import type { VirtualTime } from './virtual-time.ts';

/** As wrangler.toml has it. */
const MAX_RETRIES = 5;
const MAX_DEAD_RETRIES = 100;

export type Post = {
  time: VirtualTime;
  faults: Faults;
  random: Random;
  consume(batch: MessageBatch): Promise<void>;
  note(what: string): void;
};

type Queued = { id: number; body: QueueMessage; attempts: number };

export class MessageQueue {
  readonly #post: Post;
  #sent = 0;

  constructor(post: Post) {
    this.#post = post;
  }

  /** Resolves once the queue holds the messages; after a rejection it may hold them too. */
  async send(messages: QueueMessage[], random: Random): Promise<void> {
    const { time, faults, note } = this.#post;
    await time.sleep(random.skewed(1, 80));
    const fails = random.chance(faults.queueFails);
    if (fails && random.chance(0.5)) {
      note('queue: refuses messages');
      throw new Error('Queue sendBatch failed: Internal Server Error');
    }
    for (const body of messages) {
      this.#deliver({ id: (this.#sent += 1), body, attempts: 1 }, this.#delay(), 'toolgate');
      if (random.chance(faults.queueDoubles))
        this.#deliver({ id: this.#sent, body, attempts: 1 }, this.#delay(), 'toolgate');
    }
    if (fails) throw new Error('Queue sendBatch failed: Network connection lost.');
  }

  #delay = (): number => {
    const { random, faults } = this.#post;
    return random.chance(faults.queueSlow) ? random.skewed(1_000, 400_000) : random.skewed(10, 1_500);
  };

  #deliver(message: Queued, afterMs: number, queue: 'toolgate' | 'toolgate-dead'): void {
    this.#post.time.after(afterMs, () => void this.#consumed(message, queue));
  }

  async #consumed(message: Queued, queue: 'toolgate' | 'toolgate-dead'): Promise<void> {
    const { note } = this.#post;
    let retryAfter: number | null = null;
    const shown = {
      id: String(message.id),
      body: message.body,
      attempts: message.attempts,
      timestamp: new Date(),
      ack: () => undefined,
      retry: ({ delaySeconds = 30 }: { delaySeconds?: number } = {}) => (retryAfter = delaySeconds),
    };
    note(`${queue}: ${message.body.type} message ${message.id}, try ${message.attempts}`);
    const batch = { queue, messages: [shown], ackAll: () => undefined, retryAll: () => shown.retry() };
    await this.#post.consume(batch as unknown as MessageBatch).catch(() => shown.retry());
    if (retryAfter === null) return;
    const again = { ...message, attempts: message.attempts + 1 };
    const most = queue === 'toolgate' ? MAX_RETRIES : MAX_DEAD_RETRIES;
    if (message.attempts <= most) this.#deliver(again, retryAfter * 1_000, queue);
    else if (queue === 'toolgate') this.#deliver({ ...message, attempts: 1 }, 100, 'toolgate-dead');
  }
}

export type Letter = { to: string; link: string | null };

/** Fails with the service's codes: now, for good, or after the mail has left. */
export class MailService {
  readonly #post: Omit<Post, 'consume'>;
  readonly #arrived: (letter: Letter) => void;

  constructor(post: Omit<Post, 'consume'>, arrived: (letter: Letter) => void) {
    [this.#post, this.#arrived] = [post, arrived];
  }

  async send({ to, text }: { to: string; text: string }): Promise<{ messageId: string }> {
    const { time, faults, random, note } = this.#post;
    await time.sleep(random.skewed(5, 800));
    const fails = random.chance(faults.mailFails);
    const how = random.unit();
    if (fails && how < 0.2) throw failure('E_RECIPIENT_NOT_ALLOWED');
    if (fails && how < 0.7) throw failure('E_DELIVERY_FAILED');
    const link = /https?:\/\/\S+\/approvals\/\S+/.exec(text)?.[0] ?? null;
    note(`mail to ${to}${link === null ? '' : ' with a link'}`);
    time.after(random.skewed(50, 2_000), () => this.#arrived({ to, link }));
    if (fails) throw failure('E_DELIVERY_FAILED');
    return { messageId: 'simulated' };
  }
}

const failure = (code: string): Error => Object.assign(new Error('the mail service refuses'), { code });
