import { describe, expect, it } from 'vitest';
import { MAX_DEPTH } from '../../src/gate/json-grammar.ts';
import { MAX_ARGUMENTS_BYTES, isJsonObject, parseObjectText, parseStrictJson } from '../../src/gate/json.ts';

const reasonOf = (reading: ReturnType<typeof parseStrictJson>) => (reading.ok ? 'accepted' : reading.reason);

describe('parseStrictJson', () => {
  it.each([
    ['an object', ' {"a":[1,-2.5,true,false,null,"x"],"b":{}} ', { a: [1, -2.5, true, false, null, 'x'], b: {} }],
    ['a lone scalar', '"x"', 'x'],
    [
      'a float that is an integer as written',
      '[2590.0,1e2,1.5e1,100e-2,0e400,0.0e-9,-0.0]',
      [2590, 100, 15, 1, 0, 0, -0],
    ],
    ['an integer beyond 2^53, which the schema judges', '9007199254740993', 9007199254740992],
    ['a fraction that is rounded but stays a fraction', '0.1000000000000000055', 0.1],
    ['an escaped surrogate pair', String.raw`"\ud83D\uDe00"`, '😀'],
    ['escapes of every kind', String.raw`"\"\\\/\b\f\n\r\t\u0041\u0000"`, '"\\/\b\f\n\r\tA\0'],
    ['one name in two objects', '[{"a":1},{"a":{"a":2}}]', [{ a: 1 }, { a: { a: 2 } }]],
    ['what looks like a comment in a string', '"/* // */"', '/* // */'],
  ])('reads %s', (_, text, value) => {
    expect(parseStrictJson(text)).toStrictEqual({ ok: true, value });
  });

  it.each([
    ['nothing', '', 'the text is empty'],
    ['blanks alone', ' \n', 'the text is empty'],
    ['trailing text', '{"a":1} thanks', 'trailing text after the JSON object at character 9'],
    ['a second object', '{}{}', 'trailing text after the JSON object at character 3'],
    ['text after an array', '[] 1', 'trailing text after the JSON array at character 4'],
    ['text after a scalar', '1 2', 'trailing text after the JSON value at character 3'],
    ['a leading zero', '01', 'trailing text after the JSON value at character 2'],
    ['a line comment', '{"a":1 // one\n}', 'comments are not JSON at character 8'],
    ['a block comment', '/* a */{}', 'comments are not JSON at character 1'],
    ['NaN', '{"a":NaN}', 'NaN and Infinity are not JSON at character 6'],
    ['negative Infinity', '[-Infinity]', 'NaN and Infinity are not JSON at character 2'],
    ['an overflow', '{"a":1e400}', 'a number is out of range at character 6'],
    [
      'an integer only by rounding',
      '[2590.0000000000000001]',
      'a number is an integer only after rounding at character 2',
    ],
    ['a zero only by rounding', '[1e-400]', 'a number is an integer only after rounding at character 2'],
    ['a negative zero only by rounding', '[-1e-400]', 'a number is an integer only after rounding at character 2'],
    [
      'a rounded fraction beyond 2^53',
      '9007199254740992.5',
      'a number is an integer only after rounding at character 1',
    ],
    ['a name twice', '{"a":1,"b":2,"a":1}', 'a member name appears twice in one object at character 14'],
    [
      'a name twice, once escaped',
      String.raw`{"a":1,"\u0061":2}`,
      'a member name appears twice in one object at character 8',
    ],
    ['__proto__ twice', '{"__proto__":1,"__proto__":2}', 'a member name appears twice in one object at character 16'],
    ['an inner name twice', '{"x":[{"a":1,"a":2}]}', 'a member name appears twice in one object at character 14'],
    ['an escaped lone high surrogate', String.raw`["\ud83d"]`, 'half of a surrogate pair stands alone at character 3'],
    ['an escaped lone low surrogate', String.raw`["\uDE00"]`, 'half of a surrogate pair stands alone at character 3'],
    ['two high surrogates', String.raw`"\ud83d\ud83d"`, 'half of a surrogate pair stands alone at character 2'],
    ['a lone surrogate in a name', String.raw`{"\udead":1}`, 'half of a surrogate pair stands alone at character 3'],
    ['a raw lone surrogate', '["\ud83d"]', 'half of a surrogate pair stands alone at character 3'],
    ['a raw half before an escaped half', '"\ud83d\\ude00"', 'half of a surrogate pair stands alone at character 2'],
    ['a byte order mark', '\ufeff{}', 'a byte order mark is not JSON at character 1'],
    ['a raw line feed in a string', '"a\nb"', 'a control character in a string must be escaped at character 3'],
    ['an unknown escape', String.raw`"\x41"`, 'this escape is not JSON at character 2'],
    ['a short escape', String.raw`"\u12"`, 'this escape is not JSON at character 2'],
    ['single quotes', "{'a':1}", 'expected a member name in double quotes or "}" at character 2'],
    ['a bare name', '{a:1}', 'expected a member name in double quotes or "}" at character 2'],
    ['a trailing comma in an object', '{"a":1,}', 'expected a member name in double quotes at character 8'],
    ['a trailing comma in an array', '[1,]', 'expected a value at character 4'],
    ['a missing comma', '[1 2]', 'expected a comma or the closing bracket at character 4'],
    ['a missing colon', '{"a" 1}', 'expected a colon at character 6'],
    ['a missing value', '{"a":}', 'expected a value at character 6'],
    ['the wrong closing bracket', '{"a":1]', 'expected a comma or the closing bracket at character 7'],
    ['a fence around the JSON', '```json\n{}\n```', 'expected a value at character 1'],
    ['a Python literal', '[True]', 'expected a value or "]" at character 2'],
    ['an open object', '{"a":1', 'the text ends before the JSON does at character 7'],
    ['an open string', '["a', 'the text ends inside a string at character 4'],
    ['a closing bracket alone', ']', 'expected a value at character 1'],
    ['a no-break space between tokens', '[\u00a01]', 'expected a value or "]" at character 2'],
  ])('refuses %s', (_, text, reason) => {
    expect(reasonOf(parseStrictJson(text))).toBe(reason);
  });

  it('keeps __proto__ and constructor as plain members and pollutes nothing', () => {
    const reading = parseStrictJson('{"__proto__":{"polluted":true},"constructor":1}');
    if (!reading.ok || !isJsonObject(reading.value)) throw new Error(reasonOf(reading));
    expect(Object.keys(reading.value)).toEqual(['__proto__', 'constructor']);
    expect(Object.getPrototypeOf(reading.value)).toBe(Object.prototype);
    expect(Reflect.get(reading.value, 'polluted')).toBeUndefined();
    expect(Reflect.get({}, 'polluted')).toBeUndefined();
  });

  it('reads nesting up to the limit and refuses one level more', () => {
    const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
    expect(parseStrictJson(nested(MAX_DEPTH)).ok).toBe(true);
    expect(reasonOf(parseStrictJson(nested(MAX_DEPTH + 1)))).toBe('nesting goes beyond 64 levels at character 65');
    expect(parseStrictJson(`[${'{},'.repeat(100)}{}]`).ok).toBe(true);
  });

  it.each([
    ['opening brackets', '['.repeat(2 ** 20)],
    ['opening objects', '{"a":'.repeat(2 ** 18)],
    ['one-digit numbers', `[${'1,'.repeat(2 ** 19)}1]`],
    ['empty arrays', `[${'[],'.repeat(2 ** 18)}1]`],
    ['distinct names', `{${Array.from({ length: 2 ** 16 }, (_, i) => `"${i}":1`).join()}}`],
    ['escapes', `"${'\\u0041'.repeat(2 ** 17)}"`],
    ['backslashes', `"${'\\'.repeat(2 ** 20)}"`],
    ['one long string', `"${'a'.repeat(2 ** 20)}"`],
    ['an open string', `"${'a'.repeat(2 ** 20)}`],
    ['one long number', '9'.repeat(2 ** 20)],
    ['zeros before a digit', `0.${'0'.repeat(2 ** 20)}1`],
    ['zeros after a digit', `1.${'0'.repeat(2 ** 20)}`],
    ['a long exponent', `1e-${'9'.repeat(2 ** 20)}`],
    ['blanks', ' '.repeat(2 ** 20)],
    ['slashes', '/'.repeat(2 ** 20)],
  ])('answers within seconds on a mebibyte of %s', (_, text) => {
    const start = performance.now();
    parseStrictJson(text);
    expect(performance.now() - start).toBeLessThan(3000);
  });
});

describe('parseObjectText', () => {
  it('reads the empty text as an empty object', () => {
    expect(parseObjectText('')).toEqual({ ok: true, value: {} });
  });

  it.each([
    [
      'an object encoded twice',
      JSON.stringify('{"a":1}'),
      'the text is a JSON string that holds JSON; send the object itself',
    ],
    ['another string', '"hello"', 'the text is a JSON string; send one JSON object'],
    ['an array', '[{}]', 'the text is a JSON array; send one JSON object'],
    ['null', 'null', 'the text is a JSON null; send one JSON object'],
    ['a number', '1', 'the text is a JSON number; send one JSON object'],
    ['blanks', ' ', 'the text is empty'],
    ['a flaw', '{"a":1,"a":1}', 'a member name appears twice in one object at character 8'],
  ])('refuses %s', (_, text, reason) => {
    expect(parseObjectText(text)).toEqual({ ok: false, reason });
  });

  it('weighs the text in UTF-8 bytes', () => {
    const weighing = (bytes: number) => `{"a":"${'é'.repeat((bytes - 8) / 2)}"}`;
    expect(parseObjectText(weighing(MAX_ARGUMENTS_BYTES)).ok).toBe(true);
    expect(parseObjectText(weighing(MAX_ARGUMENTS_BYTES + 2))).toEqual({
      ok: false,
      reason: 'more than 32768 bytes are not read; send less',
    });
  });
});
