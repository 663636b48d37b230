// Three kinds of test: `unit` in plain Node, `runtime` inside workerd with real bindings, `contract` from outside over HTTP.
// `--mode whole` runs, whole, the files of which the usual mode runs a sample.
import { globSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { cloudflareTest, readD1Migrations } from '@cloudflare/vitest-pool-workers';
import { defineConfig } from 'vitest/config';

// Otherwise wrangler tells for each file that it has read .dev.vars, whose values the bindings below replace.
process.env['WRANGLER_LOG'] ??= 'warn';

// workerd reports each object that a test lets die and each failure that it lets through; what becomes of them the tests assert.
const INTENDED = /^uncaught exception;[^]*(the object dies|UpstreamError|UpstreamTimeout)/;
for (const stream of [process.stdout, process.stderr]) {
  const write = stream.write.bind(stream);
  stream.write = (text: string | Uint8Array, ...rest: never[]) =>
    typeof text === 'string' && INTENDED.test(text) ? true : write(text, ...rest);
}

declare module 'vitest' {
  interface ProvidedContext {
    migrations: Awaited<ReturnType<typeof readD1Migrations>>;
    auditMigrations: Awaited<ReturnType<typeof readD1Migrations>>;
  }
}

const FILES = 'test/**/*.test.{ts,tsx}';
const isSampled = (file: string): boolean => readFileSync(file, 'utf8').includes('support/whole.ts');
const migrations = await readD1Migrations({
  migrationsDir: '.',
  migrationsPattern: '{migrations,src/tools/*/migrations}/*.sql',
});
const auditMigrations = await readD1Migrations('migrations/audit');

// Fixed and public: they open nothing but a test. Every name that a developer's .dev.vars may hold stands here, since that file
// is read as well and these win.
const testBindings = {
  PUBLIC_URL: 'https://toolgate.test',
  ADMIN_TOKEN: 'a'.repeat(64),
  TOOLGATE_SECRET: 'b'.repeat(64),
  TOOLGATE_SECRET_PREVIOUS: 'c'.repeat(64),
  MAIL_FROM: 'gate@toolgate.test',
  STRIPE_ORIGIN: 'https://api.stripe.test',
  STRIPE_ACCOUNT: 'acct_test',
  STRIPE_SECRET: 'sk_test_secret',
};

export default defineConfig(({ mode }) => {
  const isWhole = mode === 'whole';
  const passedOver = isWhole ? globSync(FILES).filter((file) => !isSampled(file)) : [];
  return {
    test: {
      // The Worker logs a line a request; only a failing test's are worth reading.
      silent: 'passed-only',
      reporters: ['default', './test/support/summary-reporter.ts'],
      projects: [
        {
          test: {
            name: 'unit',
            include: [FILES],
            exclude: ['test/runtime/**', 'test/contract/**', ...passedOver],
            provide: { isWhole },
            // These files share nothing but modules, so one module graph serves them all.
            isolate: false,
            // Some think for seconds on a busy machine, none for ever.
            testTimeout: 30_000,
            sequence: { groupOrder: 0 },
          },
        },
        {
          plugins: [
            cloudflareTest({
              wrangler: { configPath: './wrangler.toml' },
              miniflare: {
                bindings: testBindings,
                queueConsumers: {
                  toolgate: { maxBatchTimeout: 0, maxRetries: 2, retryDelay: 0, deadLetterQueue: 'toolgate-dead' },
                  'toolgate-dead': { maxBatchTimeout: 0 },
                },
              },
            }),
          ],
          test: {
            name: 'runtime',
            include: ['test/runtime/**/*.test.{ts,tsx}'],
            exclude: passedOver,
            setupFiles: ['./test/runtime/apply-migrations.ts'],
            provide: { migrations, auditMigrations, isWhole },
            testTimeout: 20_000,
            // On two cores the default is one at a time, and most of what these files do is to wait.
            maxWorkers: Math.max(2, availableParallelism() - 1),
            sequence: { groupOrder: 1 },
          },
        },
        {
          test: {
            name: 'contract',
            include: ['test/contract/**/*.test.{ts,tsx}'],
            exclude: passedOver,
            provide: { isWhole },
            globalSetup: ['./test/contract/one-worker.ts'],
            // Two files at a time would only fight over the cores and make timings lie.
            fileParallelism: false,
            testTimeout: 60_000,
            hookTimeout: 120_000,
            sequence: { groupOrder: 2 },
          },
        },
      ],
    },
  };
});
