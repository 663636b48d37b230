import { beforeAll, describe, expect, it, vi } from 'vitest';
import { app } from '../../support/tools.ts';
import { gateCodes } from '../../../src/gate/http/docs/codes.ts';
import { describedRoutes } from '../../../src/gate/http/shared/operation.ts';
import { PROBLEM_TYPES } from '../../../src/gate/http/shared/problem.ts';
import { providers } from '../../../src/gate/providers/index.ts';
import { allTools } from '../../support/tools.ts';

const bindings = {
  PUBLIC_URL: 'https://toolgate.test',
  ADMIN_TOKEN: 'a'.repeat(64),
  TOOLGATE_SECRET: 'b'.repeat(64),
  MAIL_FROM: 'gate@toolgate.test',
};

async function read(path: string): Promise<{ text: string; headers: Headers }> {
  const log = vi.spyOn(console, 'log').mockReturnValue();
  const response = await app.request(`https://toolgate.test${path}`, {}, bindings);
  log.mockRestore();
  return { text: await response.text(), headers: response.headers };
}

describe('GET /docs', () => {
  let page: string;
  let csp: string | null;
  beforeAll(async () => {
    const { text, headers } = await read('/docs');
    page = text;
    csp = headers.get('content-security-policy');
  });

  it.each([
    ['route', describedRoutes(app.routes).map(({ id }) => `id="${id}"`)],
    ['code', [...gateCodes, ...allTools.flatMap(({ codes }) => codes)]],
    ['problem', Object.keys(PROBLEM_TYPES)],
    ['tool', allTools.map(({ name }) => `id="tool-${name}"`)],
    ['provider', providers.map(({ takes }) => takes)],
  ])('tells of every %s', (_kind, names) => {
    expect(names.filter((name) => !page.includes(name))).toEqual([]);
  });

  it('loads nothing and runs nothing', () => {
    expect(page).not.toMatch(/<script|<link|<img|\ssrc=|\son\w+=|@import|url\(/);
    expect(csp).toMatch(
      /^default-src 'none'; style-src 'nonce-[A-Za-z0-9+/=]{22,}'; base-uri 'none'; frame-ancestors 'none'$/,
    );
  });

  it('leads nowhere that does not exist', async () => {
    const targets = [...new Set([...page.matchAll(/href="([^"]+)"/g)].map(([, target = '']) => target))];
    for (const target of targets) {
      if (target.startsWith('#')) expect(page).toContain(`id="${target.slice(1)}"`);
      else expect((await read(target)).headers.get('content-type'), target).not.toContain('problem');
    }
  });
});

describe('GET /llms.txt', () => {
  it('tells every code and tool within 4 KB', async () => {
    const { text, headers } = await read('/llms.txt');
    expect(headers.get('content-type')).toMatch(/^text\/plain/);
    expect(new TextEncoder().encode(text).length).toBeLessThanOrEqual(4_096);
    expect([...gateCodes, ...allTools.map(({ name }) => name)].filter((name) => !text.includes(name))).toEqual([]);
  });
});
