/** Attacks by way of the approver's link: made up, used twice, fetched ahead, posted from elsewhere. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { signApprovalToken } from '../../src/gate/auth/tokens.ts';
import { linkOf, parkedRefund, parkIn, type Parked } from '../support/approver.ts';
import { configOf, mailedLink, ORIGIN, submit, tokenOf, unnonced, visit, type Seen } from '../support/reached.ts';
import { auditIn, dumpOf, objectsWithStorage, withoutAlarms } from '../support/inside.ts';
import { shownOf } from '../support/shown.ts';
import { ledgerOf } from '../support/session.ts';

const HOUR_MS = 3_600_000;

let parked: Parked;
let link: string;
let token: string;
beforeEach(async () => {
  withoutAlarms();
  vi.spyOn(console, 'log').mockReturnValue();
  parked = await parkedRefund();
  ({ link, token } = await mailedLink(parked));
});
afterEach(() => vi.restoreAllMocks());

const path = (id: string, t: string): string => `/approvals/${id}?t=${t}`;

describe('a link that was tampered with', () => {
  /** Each shows the page of a link that was never made, decides nothing and leaves no trace. */
  async function expectNothing(paths: string[]): Promise<void> {
    const unknown = unnonced(await visit(path('apr_unknown', 'x')));
    const before = { objects: await objectsWithStorage(), record: await dumpOf(parked.agent.object) };
    for (const each of paths) {
      expect({ each, seen: unnonced(await visit(each)) }).toEqual({ each, seen: unknown });
      expect({ each, seen: unnonced(await submit(each)) }).toEqual({ each, seen: unknown });
    }
    expect({ objects: await objectsWithStorage(), record: await dumpOf(parked.agent.object) }).toEqual(before);
  }

  it('opens nothing with any one of its characters changed', async () => {
    const others = [...token].map((is, at) => token.slice(0, at) + (is === 'A' ? 'B' : 'A') + token.slice(at + 1));
    await expectNothing(others.map((other) => path(parked.id, other)));
  });

  it('opens nothing cut, doubled, in another case, or beside another', async () => {
    const { id } = parked;
    await expectNothing([
      path(id, token.slice(0, -1)),
      path(id, `${token}A`),
      path(id, `${token}=`),
      path(id, `${token}%00`),
      path(id, `${token}&t=${token}`),
      path(id, `x&t=${token}`),
      path(id, token.toUpperCase()),
      path(id, `${token.split('.').slice(0, 2).join('.')}.`),
      path(id, token.replaceAll('.', '')),
      path(id.toUpperCase(), token),
      path(`${id}%20`, token),
      path(`${id}%00`, token),
      `/approvals/${id}?T=${token}`,
      `/approvals/${id}?t[]=${token}`,
      `/approvals/${id}`,
    ]);
  });

  it('opens no other approval, and is opened by no other kind of token', async () => {
    const other = await parkIn(parked.agent);
    const strange = await parkedRefund();
    const { token: theirs } = await mailedLink(strange);
    const { token: others } = await mailedLink(other);
    await expectNothing([
      path(other.id, token),
      path(parked.id, others),
      path(parked.id, theirs),
      path(strange.id, token),
      path(parked.id, await tokenOf(parked.agent)),
      path(parked.id, 'a'.repeat(64)),
    ]);
  });

  it('opens nothing with a signature of ours on what the object does not keep', async () => {
    const { bits } = await linkOf(parked);
    const claims = { object: parked.agent.object, approver: 0, bits, expiresAt: Date.now() + HOUR_MS };
    const sign = (changes: object, config = configOf()) => signApprovalToken(config, { ...claims, ...changes });
    const old = { TOOLGATE_SECRET: 'd'.repeat(64) };
    await expectNothing(
      [
        await sign({ bits: '0'.repeat(32) }),
        await sign({ bits: bits.replace(/.$/, (last) => (last === '0' ? '1' : '0')) }),
        await sign({ approver: 1 }),
        await sign({ approver: 99 }),
        await sign({ object: 'f'.repeat(64) }),
        await sign({ expiresAt: Date.now() - 1_000 }),
        await sign({}, configOf({ PUBLIC_URL: 'https://other.test' })),
        await sign({}, configOf(old)),
      ].map((each) => path(parked.id, each)),
    );
    // The key before the present one still verifies: links outlive a rotation.
    const rotated = await sign({}, configOf({ TOOLGATE_SECRET: 'c'.repeat(64) }));
    expect((await visit(path(parked.id, rotated))).status).toBe(200);
  });
});

describe('a link that is used again', () => {
  it('decides once, of twenty posts at once', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => submit(link)));
    expect(answers.filter(({ status }) => status === 303)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(19);
    expect(await ledgerOf(parked.order)).toEqual({ refunded_cents: 2_590, applied: 1, voids: 0 });
    expect((await submit(link, { decision: 'reject', phrase: '25.90' })).status).toBe(409);
    expect((await auditIn(parked.agent.object)).filter(({ kind }) => kind === 'decision')).toHaveLength(1);
  });
});

describe('a reader of the page', () => {
  it('changes nothing by fetching ahead, in part, or with the fields of the form', async () => {
    const before = await dumpOf(parked.agent.object);
    const ahead = [
      { purpose: 'prefetch' },
      { 'sec-purpose': 'prefetch;prerender' },
      { 'x-moz': 'prefetch' },
      { range: 'bytes=0-9' },
    ];
    for (const headers of ahead) expect((await visit(link, { headers })).status).toBe(200);
    const fields = `decision=approve&phrase=25.90&shown=${shownOf(parked.order)}`;
    for (const method of ['GET', 'HEAD']) expect((await visit(`${link}&${fields}`, { method })).status).toBe(200);
    for (const name of ['x-http-method-override', 'x-method-override', 'x-http-method'])
      expect((await visit(`${link}&_method=POST&${fields}`, { headers: { [name]: 'POST' } })).status).toBe(200);
    expect(await dumpOf(parked.agent.object)).toBe(before);
  });
});

describe('a form from elsewhere', () => {
  const origins = [
    ...[
      '',
      'null',
      'https://evil.test',
      'http://toolgate.test',
      `${ORIGIN}:444`,
      `${ORIGIN}/`,
      'https://TOOLGATE.test',
    ],
    ...[
      'https://sub.toolgate.test',
      `${ORIGIN}.evil.test`,
      `${ORIGIN}, https://evil.test`,
      `https://evil.test ${ORIGIN}`,
    ],
    ...['https://evil.test@toolgate.test', 'toolgate.test', 'file://', 'about:blank'],
  ];

  it('decides nothing unless its Origin is exactly ours', async () => {
    const before = await dumpOf(parked.agent.object);
    for (const origin of origins) {
      const { status } = await submit(link, undefined, {
        origin,
        referer: `${ORIGIN}/`,
        'sec-fetch-site': 'same-origin',
      });
      expect({ origin, status }).toEqual({ origin, status: 403 });
    }
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    expect((await visit(link, { method: 'POST', headers, body: 'decision=approve&phrase=25.90' })).status).toBe(403);
    expect(await dumpOf(parked.agent.object)).toBe(before);
  });

  it('decides nothing in another content type than a form, with any Origin', async () => {
    const before = await dumpOf(parked.agent.object);
    const types = [
      ...[
        'application/json',
        'text/plain',
        'multipart/form-data; boundary=x',
        '',
        'application/x-www-form-urlencodedx',
      ],
      ...['application/x-www-form-urlencoded; charset=utf-16', 'text/html, application/x-www-form-urlencoded'],
    ];
    for (const type of types) expect((await submit(link, undefined, { 'content-type': type })).status).toBe(415);
    expect((await submit(link, undefined, { 'content-encoding': 'gzip' })).status).toBe(415);
    expect(await dumpOf(parked.agent.object)).toBe(before);
  });

  it('is not steered by the names of hosts that a client writes', async () => {
    const before = await dumpOf(parked.agent.object);
    for (const host of ['evil.test', 'toolgate.test.', 'toolgate.test:444', 'toolgate.test@evil.test', 'x']) {
      const { status } = await submit(link, undefined, { host });
      expect({ host, status }).toEqual({ host, status: 421 });
    }
    expect((await submit(link.replace('toolgate.test', 'evil.test'))).status).toBe(421);
    expect(await dumpOf(parked.agent.object)).toBe(before);

    const forwarded = { 'x-forwarded-host': 'evil.test', 'x-forwarded-proto': 'http', forwarded: 'host=evil.test' };
    const { status, headers } = await submit(
      `${link}&next=https://evil.test&redirect=//evil.test`,
      undefined,
      forwarded,
    );
    expect({ status, location: headers.get('location') }).toEqual({ status: 303, location: path(parked.id, token) });
  });
});

describe('every answer to a link', () => {
  const policy =
    /^default-src 'none'; style-src 'nonce-[\w+/=]{22,}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'$/;

  function expectClosed({ headers }: Seen): void {
    expect(headers.get('content-security-policy')).toMatch(policy);
    expect(headers.get('x-frame-options')).toBe('DENY');
    expect(headers.get('referrer-policy')).toBe('strict-origin');
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.has('set-cookie')).toBe(false);
  }

  it('cannot be framed or cached, and loads nothing', async () => {
    const answers: [number, Promise<Seen>][] = [
      [200, visit(link)],
      [200, visit(link, { method: 'HEAD' })],
      [404, visit(path(parked.id, 'x'))],
      [403, submit(link, undefined, { origin: 'https://evil.test' })],
      [413, submit(link, { note: 'x'.repeat(70_000) })],
      [415, submit(link, undefined, { 'content-type': 'text/plain' })],
      [422, submit(link, { decision: 'approve', phrase: '' })],
      [409, submit(link, { decision: 'approve', phrase: '25.90', shown: shownOf(parked.order, 1) })],
    ];
    for (const [status, answer] of answers) {
      const seen = await answer;
      expect(seen.status).toBe(status);
      expectClosed(seen);
      expect(seen.text).not.toMatch(/<script|<iframe|<img|<object|<link|https?:\/\//i);
    }
    const decided = await submit(link);
    expect(decided.status).toBe(303);
    expectClosed(decided);
  });

  it('is no page where the method is wrong, and repeats nothing of the link', async () => {
    const { status, headers, text } = await visit(link, { method: 'PUT' });
    expect([status, headers.get('content-type')]).toEqual([405, 'application/problem+json']);
    expect([headers.get('x-frame-options'), headers.get('cache-control')]).toEqual(['DENY', 'no-store']);
    expect(text).not.toContain(parked.id);
    expect(text).not.toContain(token);
  });
});
