/** Published flaws of the libraries in use, or of parts of them that this product does by itself: none is here. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { parkedRefund, statusOf } from '../support/approver.ts';
import { withoutAlarms } from '../support/inside.ts';
import { makeCaller } from '../support/over-http.ts';
import { freeAgent, mailedLink, ORIGIN, sendAs, submit, visit } from '../support/reached.ts';
import { shownOf } from '../support/shown.ts';
import { newOrder } from '../support/session.ts';

beforeEach(() => {
  withoutAlarms();
  vi.spyOn(console, 'log').mockReturnValue();
});
afterEach(() => vi.restoreAllMocks());

const ADMIN_TOKEN = 'a'.repeat(64);
const JSON_TYPE = { 'content-type': 'application/json' };

/** A body of that many bytes in pieces, whose length no header tells. */
function inPieces(bytes: number): ReadableStream<Uint8Array> {
  const piece = new Uint8Array(16_384).fill(0x20);
  let left = bytes;
  return new ReadableStream({
    pull(controller) {
      if (left <= 0) return controller.close();
      controller.enqueue(piece.subarray(0, Math.min(left, piece.length)));
      left -= piece.length;
    },
  });
}

describe('hono', () => {
  it('lets no body past the limit whose length is not told (CVE-2026-44456, CVE-2026-54288, CVE-2025-59139)', async () => {
    const { token } = await freeAgent();
    const { api_key } = await makeCaller();
    const routes = [
      ['/v1/calls', token, 65_537],
      ['/v1/calls/openai', token, 1_048_577],
      ['/mcp', token, 1_048_577],
      ['/v1/sessions', api_key, 65_537],
      ['/admin/callers', ADMIN_TOKEN, 65_537],
    ] as const;
    for (const [path, credential, bytes] of routes) {
      const headers = {
        ...JSON_TYPE,
        accept: 'application/json, text/event-stream',
        authorization: `Bearer ${credential}`,
      };
      const { status } = await visit(path, { method: 'POST', headers, body: inPieces(bytes) });
      expect({ path, status }).toEqual({ path, status: 413 });
    }
    const { link } = await mailedLink(await parkedRefund());
    const form = { 'content-type': 'application/x-www-form-urlencoded', origin: ORIGIN };
    expect((await visit(link, { method: 'POST', headers: form, body: inPieces(65_537) })).status).toBe(413);
  });

  it('takes a credential of the one scheme only (CVE-2026-47673)', async () => {
    const { token } = await freeAgent();
    for (const [credential, path] of [
      [token, '/v1/tools'],
      [ADMIN_TOKEN, '/admin/callers'],
    ] as const) {
      for (const scheme of ['Basic', 'Token', 'JWT', 'Digest', 'Negotiate', 'BearerX', 'Bearer:', ''])
        expect((await visit(path, { headers: { authorization: `${scheme} ${credential}`.trim() } })).status).toBe(401);
    }
  });

  it('asks for the credential however the path is written (CVE-2026-47676)', async () => {
    const paths = [
      ...[
        '/%61dmin/callers',
        '/admin/%63allers',
        '/admin//callers',
        '//admin/callers',
        '/admin/./callers',
        '/admin/x/../callers',
      ],
      ...[
        '/ADMIN/callers',
        '/admin%2fcallers',
        '/v1%2f..%2fadmin/callers',
        '/admin/callers/',
        '/admin;/callers',
        '/%2561dmin/callers',
      ],
    ];
    for (const path of paths) {
      const { status } = await visit(path);
      expect({ path, status: status === 401 || status === 404 }).toEqual({ path, status: true });
    }
  });

  it('decides nothing for a form without a type or of a type in capitals (CVE-2024-48913, CVE-2024-43787)', async () => {
    const parked = await parkedRefund();
    const { link } = await mailedLink(parked);
    for (const type of ['', 'Application/X-WWW-Form-Urlencoded', 'MULTIPART/FORM-DATA; boundary=x', 'text/PLAIN']) {
      const { status } = await submit(link, undefined, { origin: 'https://evil.test', 'content-type': type });
      expect({ type, status }).toEqual({ type, status: 403 });
    }
    const body = new Blob([`decision=approve&phrase=25.90&shown=${shownOf(parked.order)}`]);
    expect((await visit(link, { method: 'POST', headers: { origin: 'https://evil.test' }, body })).status).toBe(403);
    expect(await statusOf(parked)).toBe('pending');
  });

  it('reads no field of a form into what all objects share', async () => {
    const { link } = await mailedLink(await parkedRefund());
    const fields = {
      '__proto__.polluted': '1',
      '__proto__[polluted]': '1',
      'constructor.prototype.polluted': '1',
      ['__proto__']: 'x',
    };
    expect((await submit(link, { decision: 'approve', phrase: 'x', ...fields })).status).toBe(422);
    expect(Reflect.get({}, 'polluted')).toBeUndefined();
  });
});

describe('the MCP SDK', () => {
  const call = (token: string, id: number, params: object) =>
    visit('/mcp', {
      method: 'POST',
      headers: {
        ...JSON_TYPE,
        accept: 'application/json, text/event-stream',
        authorization: `Bearer ${token}`,
        'mcp-protocol-version': '2025-06-18',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id, ...params }),
    });

  it('hands no answer to another client, though their ids are equal (CVE-2026-25536)', async () => {
    const [one, two] = [await freeAgent(), await freeAgent()];
    const orders = [await newOrder({ total_cents: 111 }), await newOrder({ total_cents: 222 })];
    const asked = Array.from({ length: 20 }, (_, index) => {
      const [order_id = '', { token }] = index % 2 === 0 ? [orders[0], one] : [orders[1], two];
      return {
        order_id,
        answer: call(token, 1, { method: 'tools/call', params: { name: 'get_order', arguments: { order_id } } }),
      };
    });
    for (const { order_id, answer } of asked) {
      const { text } = await answer;
      expect(text).toContain(order_id);
      expect(orders.filter((order) => text.includes(order))).toEqual([order_id]);
    }
  });

  it('has no templates of URIs to be caught in (CVE-2026-0621)', async () => {
    const { token } = await freeAgent();
    const uri = `file:///${'1,'.repeat(20_000)}X`;
    const { status, text } = await call(token, 1, { method: 'resources/read', params: { uri } });
    expect(status).toBeLessThan(500);
    expect(text).toContain('"error"');
    expect(text).not.toContain('1,1,1');
  });

  it('serves no name but its own to a page that rebinds (CVE-2025-66414)', async () => {
    const { token } = await freeAgent();
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
    const headers = { ...JSON_TYPE, accept: 'application/json, text/event-stream', authorization: `Bearer ${token}` };
    const asked = (more: object) => visit('/mcp', { method: 'POST', headers: { ...headers, ...more }, body });
    expect((await asked({ host: 'localhost:8787' })).status).toBe(421);
    expect((await asked({ origin: 'https://evil.test' })).status).toBe(403);
  });
});

describe('jose and zod', () => {
  it('unpack no encrypted token (CVE-2024-28176)', async () => {
    const { token } = await freeAgent();
    const [header = '', payload = '', signature = ''] = token.split('.');
    const packed = btoa(JSON.stringify({ alg: 'dir', enc: 'A256GCM', zip: 'DEF' })).replaceAll('=', '');
    for (const other of [
      `${packed}..${payload}.${payload}.${signature}`,
      `${packed}.${payload}.${signature}`,
      `${header}.${payload}.${signature}.x.y`,
    ])
      expect((await visit('/v1/tools', { headers: { authorization: `Bearer ${other}` } })).status).toBe(401);
  });

  it('judge an address of any length (CVE-2023-4316)', async () => {
    const { api_key } = await makeCaller();
    const addresses = [
      `${'a'.repeat(60_000)}!`,
      `${'a.'.repeat(30_000)}@`,
      `a@${'b-'.repeat(30_000)}`,
      '"'.repeat(30_000),
      `a@${'b.'.repeat(29_000)}c!`,
    ];
    for (const requested_by of addresses)
      expect((await sendAs(api_key, '/v1/sessions', { customer_id: 'CUS-1', requested_by })).status).toBe(422);
  });
});
