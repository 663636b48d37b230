/** One episode of the fuzzing against workerd itself: its requests, objects, D1 and queue, instead of their stand-ins. */
import { createScheduledController, listDurableObjectIds, runDurableObjectAlarm } from 'cloudflare:test';
import { env, exports } from 'cloudflare:workers';
import { afterEach, expect, it, vi } from 'vitest';
import worker from '../../src/index.ts';
import type { SqlRow } from '../../src/gate/ports.ts';
import { Episode } from '../fuzz/episode.ts';
import type { Mail, Target } from '../fuzz/target.ts';
import { objectsWithStorage, withoutAlarms } from '../support/inside.ts';
import { wildBackend } from '../fuzz/wild-backend.ts';
import { Random } from '../simulation/random.ts';
import { isWhole } from '../support/whole.ts';

const REQUESTS = isWhole ? 300 : 100;

afterEach(() => vi.restoreAllMocks());

/** Nobody changes here what a poll waits for while it does. */
const withoutWait = (url: string): string => url.replace(/(?<=[?&]wait=)\d{1,2}(?=&|$)/, '0');

function workerd(): Target {
  const mails: Mail[] = [];
  const logged: string[] = [];
  let asked = 0;
  vi.spyOn(globalThis, 'fetch').mockImplementation(wildBackend(new Random('wild')));
  vi.spyOn(env.EMAIL, 'send').mockImplementation(async (mail: EmailMessage | EmailMessageBuilder) => {
    mails.push({ text: (mail as EmailMessageBuilder).text ?? '' });
    return { messageId: 'sent' };
  });
  for (const method of ['log', 'error'] as const)
    vi.spyOn(console, method).mockImplementation((line: unknown) => void logged.push(String(line)));
  return {
    mails,
    logged,
    fetch(request) {
      const given = new Request(withoutWait(request.url), request);
      // Failed credentials are counted per address; this is about what else is answered.
      if (!given.headers.has('cf-connecting-ip'))
        given.headers.set('cf-connecting-ip', `2001:db8::${(asked += 1).toString(16)}`);
      return exports.default.fetch(new Request(given, { redirect: 'manual' }));
    },
    all: async (sql, params = []) =>
      (
        await env.DB.prepare(sql)
          .bind(...params)
          .all<SqlRow>()
      ).results,
    async settle() {
      for (const id of await listDurableObjectIds(env.SESSION)) await runDurableObjectAlarm(env.SESSION.get(id));
      await worker.scheduled(createScheduledController(), env);
      // The queue delivers by itself, at once.
      await new Promise((resolve) => setTimeout(resolve, 50));
    },
    objectsWithStorage: async () => (await objectsWithStorage()).length,
    close: () => undefined,
  };
}

it(
  `${REQUESTS} bent requests to workerd are all answered, none with a 5xx, and leave books that agree`,
  { timeout: 120_000 },
  async () => {
    withoutAlarms();
    const { findings, statuses } = await new Episode('workerd', workerd()).run(REQUESTS);
    expect(findings).toEqual([]);
    expect(Object.keys(statuses).length).toBeGreaterThan(isWhole ? 50 : 25);
  },
);
