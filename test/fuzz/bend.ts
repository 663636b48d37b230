/** Bends one thing of a good request: its method, path, query, headers, encoding, form or JSON. */
import type { Random } from '../simulation/random.ts';
import { bendJson } from './bend-json.ts';
import { ADMIN_TOKEN, ORIGIN } from './target.ts';
import { hostileName, hostileString } from './hostile.ts';
import type { Pool } from './pool.ts';
import { bytesOf, header, withHeader, type Asked } from './request.ts';

type Bend = (asked: Asked, random: Random, pool: Pool) => Asked;

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND', 'get', 'X'];

const encoded = (text: string, random: Random): string =>
  random.chance(0.8) ? encodeURIComponent(text.toWellFormed()) : text.replaceAll(/[#?\s]/g, '_');

const bendPath: Bend = (asked, random) => {
  const parts = asked.path.split('/');
  const at = random.int(1, parts.length - 1);
  const other = random.pick([
    () => encoded(hostileString(random).slice(0, 2_000), random),
    () => (parts[at] ?? '').toUpperCase(),
    () => `${parts[at] ?? ''}/`,
    () => `/${parts[at] ?? ''}`,
    () => `${parts[at] ?? ''}%2f..`,
    () => `${parts[at] ?? ''};a=b`,
    () =>
      encodeURIComponent(encodeURIComponent(parts[at] ?? '')).replaceAll(
        /[a-z]/g,
        (letter) => `%${letter.charCodeAt(0).toString(16)}`,
      ),
    () => '..',
    () => '%',
    () => '%ff%fe',
    () => ':id',
    () => '*',
    () => (parts[at] ?? '').slice(0, -1),
    () => (parts[at] ?? '') + 'x'.repeat(random.pick([1, 100, 5_000])),
  ])();
  return { ...asked, path: parts.map((part, index) => (index === at ? other : part)).join('/') };
};

const bendQuery: Bend = (asked, random) => {
  const { query } = asked;
  const names = [
    ...query.map(([name]) => name),
    't',
    'wait',
    'provider',
    'limit',
    'cursor',
    'from',
    'to',
    'status',
    'session_id',
  ];
  const name = random.pick(names);
  const value = (): string => encoded(hostileString(random).slice(0, 3_000), random);
  const without = query.filter(([each]) => each !== name);
  return {
    ...asked,
    query: random.pick<() => [string, string][]>([
      () => without,
      () => [...without, [name, value()]],
      () => [...without, [name, value()]],
      () => [...query, ...query],
      () => [...query, [name, value()]],
      () => [...query, [encoded(hostileName(random).slice(0, 200), random), value()]],
      () => query.map(([each, text]) => [each, text.slice(0, -1)]),
      () => query.map(([each, text]) => [each.toUpperCase(), text]),
      () => query.map(([each, text]) => [`${each}[]`, text]),
      () => query.map(([each, text]) => [each, `%${text}`]),
      () => Array.from({ length: random.pick([2, 500]) }, () => [name, '1']),
    ])(),
  };
};

/** One character of the credential, another kind of credential, another way to write it. */
const bendCredential: Bend = (asked, random, pool) => {
  const given = header(asked, 'authorization') ?? 'Bearer x';
  const at = random.int(7, given.length - 1);
  const others = [
    () => given.slice(0, at) + random.pick([...'Ab0_-.=']) + given.slice(at + 1),
    () => given.slice(0, at),
    () => `${given}x`,
    () => given.replace('Bearer ', random.pick(['bearer ', 'Basic ', 'Bearer  ', 'Bearer\t', '', 'Token '])),
    () => `${given}, ${given}`,
    () => `Bearer ${ADMIN_TOKEN}`,
    () => `Bearer ${random.pick(pool.callers).api_key}`,
    () => `Bearer ${random.pick(pool.sessions).token}`,
    () => `Bearer ${pool.links.length > 0 ? random.pick(pool.links).token : 'x'}`,
    () => `Bearer ${random.pick(['eyJhbGciOiJub25lIn0.e30.', 'tgk_', '....', 'z'.repeat(8_000), 'null'])}`,
    () => null,
  ];
  return withHeader(asked, 'authorization', random.pick(others)());
};

const TYPES = [
  ...[
    'text/plain',
    'application/json; charset=utf-16',
    'application/json;charset="UTF-8"',
    'application/json, text/plain',
    'multipart/form-data; boundary=x',
  ],
  ...[
    'application/x-www-form-urlencoded',
    'application/x-www-form-urlencoded; charset=latin1',
    'application/JSON',
    'application/json;',
    '*/*',
    'application/problem+json',
    'z'.repeat(4_000),
  ],
];
const HEADERS: [string, string[]][] = [
  ['content-type', TYPES],
  ['content-encoding', ['gzip', 'br', 'identity', '', 'utf-8']],
  ['content-length', ['0', '-1', '1e9', '99999999999', '65537', 'x', '']],
  ['transfer-encoding', ['chunked', 'gzip']],
  [
    'accept',
    [
      'text/plain',
      'application/x-ndjson',
      '*/*;q=0',
      'text/event-stream',
      'text/plain;q=1e9,application/json',
      ';;;,,,',
      'application/json, text/event-stream',
      'x'.repeat(5_000),
    ],
  ],
  [
    'origin',
    [
      'null',
      'https://evil.example',
      ORIGIN,
      `${ORIGIN}/`,
      'https://toolgate.test.evil.example',
      'HTTPS://TOOLGATE.TEST',
      '',
    ],
  ],
  ['host', ['toolgate.test', 'evil.example', 'toolgate.test:443', 'TOOLGATE.TEST', 'toolgate.test.', '', 'a b']],
  ['x-forwarded-host', ['evil.example']],
  ['x-http-method-override', ['DELETE']],
  ['cf-connecting-ip', ['192.0.2.1', '::1', 'not an address', 'x'.repeat(3_000)]],
  ['x-request-id', ['chosen', '%0a']],
  ['mcp-protocol-version', ['1999-01-01', '2025-03-26', '', 'constructor']],
  ['mcp-method', ['tools/list', '__proto__', '']],
  ['mcp-name', ['constructor', '=?base64?Z2V0X29yZGVy?=', '']],
  ['cookie', ['t=1; session=x', 'x'.repeat(8_000)]],
  ['range', ['bytes=0-0']],
  ['if-none-match', ['*']],
  ['expect', ['100-continue']],
];

const bendHeader: Bend = (asked, random) => {
  const [name, values] = random.pick(HEADERS);
  return withHeader(asked, name, random.chance(0.1) ? null : random.pick(values));
};

const bendForm = (asked: Asked, random: Random): Asked => {
  if (asked.body.kind !== 'form') return bendBytes(asked, random);
  const { fields } = asked.body;
  const [name] = random.pick(fields);
  const rest = fields.filter(([each]) => each !== name);
  const bent = random.pick<() => [string, string][]>([
    () => rest,
    () => [...rest, [name, hostileString(random)]],
    () => [...rest, [name, hostileString(random)]],
    () => [...fields, [name, hostileString(random)]],
    () => [...fields, [hostileName(random), hostileString(random)]],
    () => [...fields].toReversed(),
    () => fields.map(([each, value]) => [each.toUpperCase(), value]),
    () => Array.from({ length: 2_000 }, () => ['x', '1']),
  ])();
  return { ...asked, body: { kind: 'form', fields: bent } };
};

const utf16 = (bytes: Uint8Array): Uint8Array =>
  Uint8Array.from(
    [...new TextDecoder().decode(bytes)].flatMap((character) => [
      character.charCodeAt(0) & 0xff,
      character.charCodeAt(0) >> 8,
    ]),
  );

function bendBytes(asked: Asked, random: Random): Asked {
  const bytes = bytesOf(asked.body) ?? new TextEncoder().encode('{}');
  const text = new TextDecoder().decode(bytes);
  const at = random.int(0, bytes.length);
  const said = (other: string): Uint8Array => new TextEncoder().encode(other);
  const padded = (size: number): Uint8Array => said(text + ' '.repeat(Math.max(0, size - bytes.length)));
  const bent = random.pick<() => Uint8Array>([
    () => bytes.slice(0, at),
    () => bytes.slice(at),
    () => Uint8Array.from([...bytes.slice(0, at), ...random.bytes(random.pick([1, 3])), ...bytes.slice(at + 1)]),
    () => Uint8Array.from([0xef, 0xbb, 0xbf, ...bytes]),
    () => Uint8Array.from([...bytes.slice(0, at), random.pick([0x80, 0xc0, 0xff, 0xed]), ...bytes.slice(at)]),
    () => utf16(bytes),
    () => said(text + text),
    () => said(`${text}${random.pick([',', '}', ']', ' x', '//', '\u0000', '\n\n'])}`),
    () => said(`${random.pick([' ', '\u00a0', '/* */', ")]}'\n", '['])}${text}`),
    () => said(text.replaceAll('"', random.pick(["'", '\u201d', '\\"', '']))),
    () => said(text.replaceAll(':', random.pick(['=', '::', ' : ', ':\n']))),
    () => said(text.replace('}', ',}')),
    () => said(''),
    () => padded(random.pick([65_535, 65_536, 65_537, 1_048_576, 1_048_577])),
    () => said('['.repeat(random.pick([64, 65, 50_000]))),
    () => said(`{"a":${'[{"a":'.repeat(random.pick([10, 31, 32, 10_000]))}`),
    () => said(`{${'"a":1,'.repeat(9_000)}"b":1}`),
    () => bytes,
  ])();
  return { ...asked, body: { kind: 'bytes', bytes: bent, inPieces: random.chance(0.5) } };
}

const bendValue: Bend = (asked, random) =>
  asked.body.kind === 'json'
    ? { ...asked, body: { kind: 'json', value: bendJson(asked.body.value, random) } }
    : bendForm(asked, random);

const bendMethod: Bend = (asked, random) => ({ ...asked, method: random.pick(METHODS) });

/** Where there is a body most of it is about the body; else about the rest. */
export const bent: Bend = (asked, random, pool) => {
  const about =
    asked.body.kind === 'none'
      ? [bendPath, bendQuery, bendCredential, bendHeader, bendMethod]
      : [bendPath, bendQuery, bendCredential, bendHeader, bendMethod, bendBytes, bendBytes, bendForm];
  const bend = asked.body.kind !== 'none' && random.chance(0.6) ? bendValue : random.pick(about);
  return bend(asked, random, pool);
};
