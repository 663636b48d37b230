/** What episodes are run against: the product's code in this process, or the Worker in workerd. */
import type { SqlRow, SqlValue } from '../../src/gate/ports.ts';

export const ORIGIN = 'https://toolgate.test';

/** As vitest.config.ts binds them. */
export const ADMIN_TOKEN = 'a'.repeat(64);
export const VARIABLES = {
  PUBLIC_URL: ORIGIN,
  ADMIN_TOKEN,
  TOOLGATE_SECRET: 'b'.repeat(64),
  TOOLGATE_SECRET_PREVIOUS: 'c'.repeat(64),
  MAIL_FROM: 'gate@toolgate.test',
  STRIPE_ORIGIN: 'https://api.stripe.test',
  STRIPE_ACCOUNT: 'acct_test',
  STRIPE_SECRET: 'sk_test_secret',
};

/** What no answer and no log line may hold, whatever was asked. */
export const SECRETS = [
  ADMIN_TOKEN,
  VARIABLES.TOOLGATE_SECRET,
  VARIABLES.TOOLGATE_SECRET_PREVIOUS,
  VARIABLES.STRIPE_SECRET,
];

export type Mail = { text: string };

export interface Target {
  fetch(request: Request): Promise<Response>;
  /** A statement on the shared database. */
  all(sql: string, params?: SqlValue[]): Promise<SqlRow[]>;
  /** All that left so far. */
  readonly mails: Mail[];
  readonly logged: string[];
  /** Lets alarms, the queue and the cron do what is due. */
  settle(): Promise<void>;
  /** Objects that keep anything: there is one for each session, and for nothing else. */
  objectsWithStorage(): Promise<number>;
  close(): void;
}
