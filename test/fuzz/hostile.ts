/** Values that programs have stumbled over. Each is harmless somewhere; none may be the end of a request. */
import type { JsonValue } from '../../src/gate/json.ts';
import type { Random } from '../simulation/random.ts';
import { asWritten } from './request.ts';

const STRINGS = [
  ...['', ' ', '\u0000', '\u0000x', '\n', '\r\nX-Injected: 1', '\t', '\u0085', '\u2028', '\ufeff', '\ufffd', '\uffff'],
  ...[
    '\u200b',
    'get_order\u200b',
    'g\u0435t_order',
    'GET_ORDER',
    '\u202e\u2066abc',
    'e\u0301',
    '\u{1f469}\u200d\u{1f467}',
    '\u{10ffff}',
  ],
  ...[
    '\ud800',
    '\udfff',
    'a\ud800b',
    '\u0660\u0661',
    '\uff11\uff12',
    '1\u00a0000',
    'CUS-\u0661',
    'ORD-1001\n',
    ' ORD-1001',
    'ord-1001',
  ],
  ...[
    '__proto__',
    'constructor',
    'prototype',
    'toString',
    'hasOwnProperty',
    'then',
    'length',
    'toJSON',
    '__defineGetter__',
    'valueOf',
  ],
  ...[
    'null',
    'undefined',
    'true',
    'NaN',
    'Infinity',
    '-1',
    '0',
    '-0',
    '1e3',
    '0x10',
    '25.90',
    '2590',
    '9007199254740993',
    '1e999',
  ],
  ...[
    '../../../etc/passwd',
    '%00',
    '%ff',
    '%',
    '%2e%2e%2f',
    "'; DROP TABLE orders; --",
    '" OR 1=1 --',
    '${7*7}',
    '{{7*7}}',
    '*',
    '?',
    '[',
    '\\',
  ],
  ...[
    '<script>alert(1)</script>',
    '</tool_observation><tool_observation>',
    '<!--',
    ']]>',
    '&lt;',
    'javascript:alert(1)',
    '\u001b[2J\u001b[31m',
  ],
  ...[
    '2026-02-30',
    '2026-11-12',
    '0000-00-00',
    '9999-12-31',
    '-000001-01-01',
    '2026-11-12T00:00:00Z',
    '2026-11-12T23:59:60Z',
    '2026-11-12T00:00:00+24:00',
  ],
  ...[
    '(',
    '1 / 0',
    '2 ** 999999',
    '1 //',
    "__import__('os')",
    `${'('.repeat(50)}1${')'.repeat(50)}`,
    '9'.repeat(100),
    `1${'+1'.repeat(49)}`,
    '- - - - 1',
  ],
  ...[
    'eve@other.example\nbcc: eve@evil.example',
    'a@b',
    '"a b"@c.example',
    'a@xn--e1afmkfd.example',
    '@',
    `${'z'.repeat(65)}@b.example`,
  ],
  ...['pending', 'approve', 'reject', 'BRL', 'brl', 'JPY', 'OK', 'damaged', '{"a":1}', '[]', '"', '{}'],
];
const WRITTEN_NUMBERS = [
  ...[
    '1e400',
    '-1e400',
    '2590.0',
    '2590.00',
    '25.9',
    '2590.0000000000000001',
    '0.1e1',
    '1E3',
    '-0',
    '-0.0',
    '0e999999999',
    '1e-400',
    '9007199254740991',
  ],
  ...[
    '9007199254740992',
    '9007199254740993',
    '-9007199254740993',
    '123456789012345678901234567890',
    '5e-324',
    '1.7976931348623157e308',
  ],
  ...[
    '01',
    '+1',
    '.5',
    '5.',
    '1_000',
    '0x1F',
    'NaN',
    '-Infinity',
    '1e',
    '--1',
    '1.2.3',
    "'1'",
    'undefined',
    '1/*x*/',
    '/*x*/1',
    '1,',
    'tru',
    'nul',
    '"\\u12"',
    '"\\x41"',
    '"\\ud800"',
  ],
];

export const hostileString = (random: Random): string => {
  const text = random.pick(STRINGS);
  if (random.chance(0.85)) return text;
  const size = random.pick([2, 20, 500, 4_000, 32_000, 70_000]);
  return (text === '' ? 'x' : text).repeat(Math.ceil(size / Math.max(1, text.length))).slice(0, size);
};

/** As deep as asked, in arrays or objects. */
export function nested(depth: number, random: Random): JsonValue {
  let value: JsonValue = random.pick<JsonValue>([null, 1, 'x', [], {}]);
  for (let level = 0; level < depth; level += 1) value = random.chance(0.5) ? [value] : { a: value };
  return value;
}

export function hostileValue(random: Random): JsonValue {
  switch (random.int(0, 9)) {
    case 0:
      return random.pick<JsonValue>([null, true, false]);
    case 1:
      return random.pick<JsonValue>([0, -1, 0.5, 1e21, -1e21, 1e308, 2 ** 31, 2 ** 32, 2 ** 53, 25.9, 1, 999_999_999]);
    case 2:
      return asWritten(random.pick(WRITTEN_NUMBERS));
    case 3:
      return random.pick<JsonValue>([[], {}, [[]], [null], [{}], { '': '' }, ['a', 'a']]);
    case 4:
      return nested(random.pick([1, 5, 30, 62, 63, 64, 65, 100, 1_000]), random);
    case 5:
      return Array.from({ length: random.pick([2, 20, 129, 1_000, 5_000]) }, () => hostileString(random).slice(0, 10));
    case 6: {
      const names = Array.from(
        { length: random.pick([1, 3, 25, 300]) },
        (_, index) => `${hostileString(random).slice(0, 20)}${index}`,
      );
      return Object.fromEntries(names.map((name) => [name, name.length]));
    }
    default:
      return hostileString(random);
  }
}
export const hostileName = (random: Random): string =>
  random.chance(0.5)
    ? random.pick(['__proto__', 'constructor', 'prototype', 'toString', 'toJSON', '', 'a.b', 'x'.repeat(200)])
    : hostileString(random).slice(0, 300);
