import { Hono } from 'hono';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { MAX_BODY_BYTES, readJsonBody } from '../../../src/gate/http/shared/body.ts';
import type { HttpEnv } from '../../../src/gate/http/shared/context.ts';

const Body = z.strictObject({ tool: z.string(), limits: z.strictObject({ steps: z.int() }).optional() });

const app = new Hono<HttpEnv>().post('/', async (c) => {
  const body = await readJsonBody(c, Body);
  return body instanceof Response ? body : c.json({ read: body });
});

type Sent = { body?: BodyInit; headers?: Record<string, string> };

const send = async ({ body = '{"tool":"a"}', headers = {} }: Sent = {}) => {
  const init = { method: 'POST', body, headers: { 'Content-Type': 'application/json', ...headers }, duplex: 'half' };
  const response = await app.request('/', init);
  const answer: unknown = await response.json();
  return { status: response.status, ...(answer as { type?: string; detail?: string; read?: unknown }) };
};
const slugOf = (type = ''): string => type.replace(/^.*\//, '');

describe('readJsonBody', () => {
  it('reads a body that fits', async () => {
    expect(await send()).toEqual({ status: 200, read: { tool: 'a' } });
  });

  it.each([
    'application/json; charset=utf-8',
    'APPLICATION/JSON;charset="UTF-8"',
    'application/json ; charset=UTF-8',
    'application/json;',
  ])('takes the content type %j', async (type) => {
    expect((await send({ headers: { 'Content-Type': type } })).status).toBe(200);
  });

  it.each([
    'text/plain',
    'application/json; charset=latin1',
    'application/json; charset=utf-8; profile=x',
    'application/json, text/plain',
    'application/jsonp',
    'application/problem+json',
    'application/json\u00a0',
    'application/json; charset="utf-8',
    '',
  ])('refuses the content type %j', async (type) => {
    expect(slugOf((await send({ headers: { 'Content-Type': type } })).type)).toBe('unsupported-media-type');
  });

  it.each(['gzip', 'identity', ''])('refuses the content encoding %j', async (encoding) => {
    expect(slugOf((await send({ headers: { 'Content-Encoding': encoding } })).type)).toBe('unsupported-media-type');
  });

  it('takes a body of exactly the limit', async () => {
    const body = `{"tool":"${'x'.repeat(MAX_BODY_BYTES - '{"tool":""}'.length)}"}`;
    expect((await send({ body })).status).toBe(200);
  });

  it('refuses a body one byte over the limit, counted as UTF-8', async () => {
    const body = `{"tool":"é${'x'.repeat(MAX_BODY_BYTES - '{"tool":""}'.length - 1)}"}`;
    expect(slugOf((await send({ body })).type)).toBe('body-too-large');
  });

  it('refuses a declared length over the limit without reading', async () => {
    const body = new ReadableStream({
      pull: () => {
        throw new Error('was read');
      },
    });
    const headers = { 'Content-Length': String(MAX_BODY_BYTES + 1) };
    expect(slugOf((await send({ body, headers })).type)).toBe('body-too-large');
  });

  it('stops keeping an undeclared body at the limit', async () => {
    let pulled = 0;
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        pulled += 1;
        controller.enqueue(new Uint8Array(10_000));
      },
    });
    expect(slugOf((await send({ body })).type)).toBe('body-too-large');
    expect(pulled).toBeLessThan(10);
  });

  it('answers a body that breaks off, and is no outage', async () => {
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.error(new Error('Network connection lost.')),
    });
    expect(slugOf((await send({ body })).type)).toBe('invalid-json');
  });

  it.each([
    ['nothing', ''],
    ['text behind it', '{"tool":"a"} x'],
    ['a member name twice', '{"tool":"a","tool":"b"}'],
    ['an escaped lone surrogate', String.raw`{"tool":"\ud800"}`],
    ['a byte order mark', '\uFEFF{"tool":"a"}'],
  ])('refuses %s as invalid JSON', async (_name, body) => {
    expect(slugOf((await send({ body })).type)).toBe('invalid-json');
  });

  it('refuses bytes that are not UTF-8 as invalid JSON', async () => {
    const body = Uint8Array.from([...'{"tool":"'].map((c) => c.charCodeAt(0)).concat(0xff, 0x22, 0x7d));
    expect(slugOf((await send({ body })).type)).toBe('invalid-json');
  });

  it.each([
    ['{}', 'tool is required'],
    ['{"tool":1}', 'tool must be a string, not a number'],
    ['{"tool":"a","limits":{"steps":"many"}}', 'limits.steps must be a whole number, not a string'],
    ['{"tool":"a","confirm":true}', 'confirm is unknown; remove it'],
    ['{"tool":"a","__proto__":{}}', '__proto__ is unknown; remove it'],
    ['{"tool":"a","limits":{"steps":1,"more":2}}', 'limits.more is unknown; remove it'],
    ['[]', 'body must be an object, not an array'],
  ])('names the member of %s that does not fit', async (body, named) => {
    const answer = await send({ body });
    expect(slugOf(answer.type)).toBe('invalid-body');
    expect(answer.detail).toContain(named);
  });

  it('repeats neither a value nor a name that is no identifier', async () => {
    const body = '{"tool":"a","limits":{"steps":"4111 1111"},"<script>":1}';
    const { detail } = await send({ body });
    expect(detail).toContain('(unknown) is unknown; remove it');
    expect(detail).not.toMatch(/4111|script/);
  });

  it.each([
    [
      'the content type before the length',
      { body: 'x'.repeat(MAX_BODY_BYTES + 1), headers: { 'Content-Type': 'a/b' } },
      415,
    ],
    ['the length before the JSON', { body: '{'.repeat(MAX_BODY_BYTES + 1) }, 413],
    ['the JSON before the members', { body: '{"no":1,"no":2}' }, 400],
  ])('judges %s', async (_name, sent, status) => {
    expect((await send(sent)).status).toBe(status);
  });
});
