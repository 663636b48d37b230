/** Attacks on the Worker as it is served: hostile corpora as bodies, hosts written by hand, scanners and sites in a browser. */
import { existsSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { text as wholeText } from 'node:stream/consumers';
import { chromium, type Browser, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { shownOnPage } from '../../scripts/demo-approval.ts';
import { describeCorpus } from '../support/corpora.ts';
import { isWhole } from '../support/whole.ts';
import type { Answer, Caller, Session } from './client.ts';
import { sharedWorker } from './shared-worker.ts';

const CHROMIUM = '/usr/bin/chromium';
/** Requests on their way together: a corpus has thousands. */
const AT_ONCE = 16;
/** 64 KiB. */
const MAX_BODY_BYTES = 65_536;
const REFUND = { order_id: 'ORD-1001', currency: 'BRL', reason: 'damaged' };

const client = sharedWorker();
let caller: Caller;
beforeAll(async () => {
  caller = await client.newCaller({ max_steps: 1_000, max_duplicate_calls: 1_000 });
});

/** What `ask` says of each item; the answers come back in the order of the items. */
async function each<Item, Said>(items: readonly Item[], ask: (item: Item) => Promise<Said>): Promise<Said[]> {
  const said: Said[] = [];
  for (let start = 0; start < items.length; start += AT_ONCE)
    said.push(...(await Promise.all(items.slice(start, start + AT_ONCE).map(ask))));
  return said;
}

/** What parsers of JSON most often get wrong. */
const HARD = /_structure_|duplicated|surrogate|huge|nul|BOM|UTF-16/i;

/** The code of an outcome, or the status of a request that was no call. */
const codeOf = ({ status, json }: Answer): unknown => (status === 200 ? (json['code'] ?? 200) : status);

describeCorpus('json-test-suite/test_parsing', (corpus) => {
  const asBody = (name: string): Promise<Answer> =>
    client.send('/v1/calls', { credential: session.token, body: corpus.bytes(name) });
  const asArguments = (name: string): Promise<Answer> =>
    client.call(session.token, { tool: 'get_order', arguments: corpus.text(name) });
  const fits = (name: string): boolean => corpus.bytes(name).length < MAX_BODY_BYTES;
  const names = corpus.names.filter((name) => isWhole || HARD.test(name));
  const small = names.filter(fits);
  const large = names.filter((name) => !fits(name));
  let session: Session;
  beforeAll(async () => {
    session = await client.newSession({}, caller);
  });

  it('is refused as a body where it is no JSON, and as another body where it is', async () => {
    const said = await each(small, async (name) => ({ name, code: codeOf(await asBody(name)) }));
    const asJson = (kind: string) => said.filter(({ name, code }) => name.startsWith(kind) && code === 422);
    expect(said.filter(({ code }) => code !== 400 && code !== 422)).toEqual([]);
    expect(asJson('n_')).toEqual([]);
    // JSON too, but for a name that is there twice.
    expect(said.filter(({ name, code }) => name.startsWith('y_') && code === 400).map(({ name }) => name)).toEqual([
      'y_object_duplicated_key.json',
      'y_object_duplicated_key_and_value.json',
    ]);
    expect(asJson('y_').length).toBeGreaterThan(isWhole ? 80 : 5);
  });

  it('is refused unread where it is larger than a body may be', async () => {
    for (const name of large) expect((await asBody(name)).status).toBe(413);
    expect(large).toEqual(['n_structure_100000_opening_arrays.json', 'n_structure_open_array_object.json']);
  });

  it('is INVALID_JSON as arguments but for one whole object', async () => {
    const said = await each(small, async (name) => ({ name, code: codeOf(await asArguments(name)) }));
    const passed = said.filter(({ code }) => code !== 'INVALID_JSON');
    expect(new Set(passed.map(({ code }) => code))).toEqual(new Set(['INVALID_ARGUMENTS']));
    // No text at all is the empty object.
    const others = passed.filter(({ name }) => !/^[yi]_(?:object|structure)/.test(name));
    expect(others.map(({ name }) => name)).toEqual(['n_structure_no_data.json']);
  });
});

/** A refund of 10.00 or so that waits, and the link its approver was mailed. */
async function askForRefund(amount_cents: number): Promise<{ link: string; status: () => Promise<unknown> }> {
  const { token } = await client.newSession({}, caller);
  const { json } = await client.call(token, { tool: 'refund_order', arguments: { ...REFUND, amount_cents } });
  const { id } = json['approval'] as { id: string };
  const find = async (): Promise<string> => {
    const mail = (await client.worker.mails()).find(({ subject }) => subject.includes(id));
    const link = /http:\/\/\S+\/approvals\/\S+/.exec(mail?.text ?? '')?.[0];
    if (link === undefined) throw new Error('no mail yet');
    return link;
  };
  const link = await vi.waitFor(find, { timeout: 20_000, interval: 200 });
  return { link, status: async () => (await client.send(`/v1/approvals/${id}`, { credential: token })).json['status'] };
}

it('a body of 8 MiB is told why it is refused, every time', async () => {
  const body = 'x'.repeat(8 * 1024 * 1024);
  const { token: credential } = await client.newSession({}, caller);
  for (let round = 0; round < 5; round += 1) {
    const answers = [
      await client.send('/v1/nothing', { body }),
      await client.send('/v1/calls', { body }),
      await client.send('/v1/calls', { body, credential, headers: { 'Content-Type': 'text/plain' } }),
      await client.send('/v1/calls', { body, credential }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([404, 401, 415, 413]);
  }
});

describe('a request that was written by hand', () => {
  /** The whole of what comes back on a connection of its own. */
  async function raw(...lines: string[]): Promise<string> {
    const { hostname, port } = new URL(client.worker.url);
    const socket = connect(Number(port), hostname);
    socket.setTimeout(20_000, () => socket.destroy());
    socket.write(`${lines.join('\r\n')}\r\n\r\n`);
    return wholeText(socket).catch(() => '');
  }
  const statusOf = (answer: string): number => Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1] ?? 0);

  it('is answered after ten seconds though its body never comes', async () => {
    const { host } = new URL(client.worker.url);
    const head = ['POST /v1/calls HTTP/1.1', `Host: ${host}`, 'Content-Type: application/json', 'Connection: close'];
    const answers = await Promise.all([
      raw(...head, 'Content-Length: 100'),
      raw(...head, 'Transfer-Encoding: chunked'),
    ]);
    expect(answers.map(statusOf)).toEqual([401, 401]);
  });

  it('decides nothing by another Host, two of them, or a whole URL, and is no 5xx', async () => {
    const { link, status } = await askForRefund(1_001);
    const { pathname, search, host, origin } = new URL(link);
    const body = `decision=approve&phrase=10.01&shown=${await shownOnPage(link)}`;
    const form = [`Origin: ${origin}`, 'Content-Type: application/x-www-form-urlencoded', 'Connection: close'];
    const sized = `Content-Length: ${body.length}`;
    const target = pathname + search;
    const answers = await Promise.all([
      raw(`POST ${target} HTTP/1.1`, 'Host: evil.test', ...form, sized, '', body),
      raw(`POST ${target} HTTP/1.1`, `Host: ${host}`, 'Host: evil.test', ...form, sized, '', body),
      raw(`POST http://evil.test${target} HTTP/1.1`, 'Host: evil.test', ...form, sized, '', body),
      raw(`POST ${target} HTTP/1.1`, 'Host: ', ...form, sized, '', body),
      raw(`POST ${target} HTTP/1.1`, ...form, sized, '', body),
      raw(`POST ${target} HTTP/1.1`, `Host: ${host}`, ...form, sized, 'Transfer-Encoding: chunked', '', '0', '', body),
      raw(`POST ${target} HTTP/1.1`, `Host: ${host}`, ...form, 'Content-Length: 1', 'Content-Length: 99', '', body),
      raw(`TRACE ${target} HTTP/1.1`, `Host: ${host}`, 'Connection: close'),
      raw(`GET ${target} HTTP/1.1\r\nX: \u0000`, `Host: ${host}`, 'Connection: close'),
      raw(`GET //evil.test${target} HTTP/1.1`, `Host: ${host}`, 'Connection: close'),
      raw(`GET ${target}`, ''),
    ]);
    // What never reached the Worker has no request id: the server before it refuses two Hosts in its own way.
    const reached = answers.filter((answer) => /^x-request-id:/im.test(answer));
    expect(reached.length).toBeGreaterThan(4);
    expect(reached.map(statusOf).filter((code) => code >= 500)).toEqual([]);
    expect(answers.map(statusOf)).not.toContain(303);
    expect(await status()).toBe('pending');
  });
});

describe.skipIf(!existsSync(CHROMIUM))('in a browser', () => {
  let browser: Browser;
  let elsewhere: Server;
  let page = '';
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] });
    elsewhere = createServer((_, answer) => answer.writeHead(200, { 'Content-Type': 'text/html' }).end(page)).listen(
      0,
      'localhost',
    );
  });
  afterAll(async () => {
    await browser.close();
    elsewhere.close();
  });
  const open = async (url: string): Promise<Page> => {
    const opened = await browser.newPage();
    await opened.goto(url);
    return opened;
  };

  it('a scanner that idles with scripts on, follows every link and presses every button decides nothing', async () => {
    const { link, status } = await askForRefund(1_002);
    const scanner = await open(link);
    await scanner.mouse.move(200, 200);
    await scanner.waitForTimeout(1_000);
    for (const blind of [[], ['approve'], ['reject']]) {
      await scanner.goto(link);
      for (const id of blind) await scanner.check(`#${id}`);
      await scanner.click('button');
      await scanner.waitForSelector('[role=alert]');
    }
    await scanner.goto(link);
    for (const id of ['approve', 'phrase', 'note'])
      await (id === 'approve' ? scanner.check('#approve') : scanner.fill(`#${id}`, 'test@example.com'));
    await scanner.press('#phrase', 'Enter');
    await scanner.waitForSelector('[role=alert]');
    expect(await status()).toBe('pending');
    await scanner.close();
  });

  it('another site neither frames the page nor posts its form', async () => {
    const { link, status } = await askForRefund(1_003);
    const { port } = elsewhere.address() as AddressInfo;
    page = `<iframe name="f" src="${link}"></iframe><form method="post" action="${link}"><input name="decision" value="approve"><input name="phrase" value="10.03"><input name="shown" value="${await shownOnPage(link)}"></form>`;
    const evil = await open(`http://localhost:${port}/`);
    await evil.waitForTimeout(500);
    expect(
      await evil
        .frame('f')
        ?.locator('form')
        .count()
        .catch(() => 0),
    ).toBe(0);
    const [posted] = await Promise.all([
      evil.waitForResponse((answer) => answer.request().method() === 'POST'),
      evil.evaluate('document.forms[0].submit()'),
    ]);
    expect(posted.status()).toBe(403);
    expect(await status()).toBe('pending');
    await evil.close();
  });
});
