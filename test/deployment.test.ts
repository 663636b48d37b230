/** SPEC 10: what `wrangler deploy --env production` would deploy, as wrangler itself reads the configuration. */
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
