/** docs/specification.md#configuration: what `wrangler deploy --env production` would deploy, as wrangler itself reads the configuration. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { unstable_readConfig } from 'wrangler';

describe.each(['production', undefined])('wrangler.toml, environment %s', (env) => {
  const config: unknown = unstable_readConfig({ config: 'wrangler.toml', ...(env === undefined ? {} : { env }) });

  it('serves no host but its own', () => {
    expect(config).toMatchObject({ workers_dev: false, preview_urls: false });
  });

  it('keeps URLs out of what the platform logs', () => {
    expect(config).toMatchObject({
      observability: {
        redact_query_string: true,
        logs: { invocation_logs: false },
        traces: { enabled: false },
      },
    });
  });

  it('mails within seconds, tries six times, and keeps dead letters longest', () => {
    expect(config).toMatchObject({
      queues: {
        consumers: [
          { queue: 'toolgate', max_batch_timeout: 1, max_retries: 5, dead_letter_queue: 'toolgate-dead' },
          { queue: 'toolgate-dead', max_retries: 100 },
        ],
      },
    });
  });

  it('wakes sessions every five minutes', () => {
    expect(config).toMatchObject({ triggers: { crons: ['*/5 * * * *'] } });
  });

  it('binds what the Worker asks for', () => {
    expect(config).toMatchObject({
      durable_objects: { bindings: [{ name: 'SESSION', class_name: 'Session' }] },
      d1_databases: [
        { binding: 'DB', migrations_pattern: './{migrations,src/tools/*/migrations}/*.sql', migrations_dir: '.' },
        { binding: 'AUDIT', database_name: 'toolgate-audit', migrations_dir: 'migrations/audit' },
      ],
      queues: { producers: [{ binding: 'QUEUE', queue: 'toolgate' }] },
      send_email: [{ name: 'EMAIL' }],
    });
  });

  it('gives no default for where it is, nor for a secret', () => {
    expect(config).toHaveProperty('vars', {});
  });

  it('limits failed credentials', () => {
    expect(config).toMatchObject({
      ratelimits: [{ name: 'FAILED_CREDENTIALS', simple: { limit: 60, period: 60 } }],
    });
  });
});

describe('.gitignore', () => {
  it('keeps local secrets out of the repository', () => {
    expect(readFileSync('.gitignore', 'utf8').split('\n')).toContain('.dev.vars*');
  });
});
