/** Bends one thing within a JSON value: a node is replaced, dropped, doubled, renamed, wrapped, or written in another way. */
import type { JsonObject, JsonValue } from '../../src/gate/json.ts';
import type { Random } from '../simulation/random.ts';
import { hostileName, hostileString, hostileValue, nested } from './hostile.ts';
import { asWritten } from './request.ts';

type Path = (string | number)[];
type Bend = (value: JsonValue, random: Random) => JsonValue;

const isObject = (value: JsonValue): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The way to every node, the root's included. */
function pathsIn(value: JsonValue, path: Path = []): Path[] {
  const below = Array.isArray(value)
    ? value.flatMap((item, index) => pathsIn(item, [...path, index]))
    : isObject(value)
      ? Object.entries(value).flatMap(([name, member]) => pathsIn(member, [...path, name]))
      : [];
  return [path, ...below];
}

function changeAt(value: JsonValue, [step, ...rest]: Path, change: (node: JsonValue) => JsonValue): JsonValue {
  if (step === undefined) return change(value);
  if (Array.isArray(value)) return value.map((item, index) => (index === step ? changeAt(item, rest, change) : item));
  if (!isObject(value)) return value;
  // Not by assignment: a member may be called __proto__.
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, name === step ? changeAt(member, rest, change) : member]),
  );
}

const entries = (value: JsonObject, change: (all: [string, JsonValue][]) => [string, JsonValue][]): JsonObject =>
  Object.fromEntries(change(Object.entries(value)));

const BENDS: Bend[] = [
  (_, random) => hostileValue(random),
  (_, random) => hostileValue(random),
  // One member or item less.
  (value, random) => {
    if (Array.isArray(value)) return value.slice(1);
    return isObject(value) && Object.keys(value).length > 0
      ? entries(value, (all) => all.filter((entry) => entry !== random.pick(all)))
      : null;
  },
  // One more, of a name that nobody expects.
  (value, random) => {
    if (Array.isArray(value)) return [...value, hostileValue(random)];
    return isObject(value) ? entries(value, (all) => [...all, [hostileName(random), hostileValue(random)]]) : [value];
  },
  // The same once more, or a hundred times.
  (value, random) => {
    if (Array.isArray(value)) return Array.from({ length: random.pick([2, 10, 130]) }, () => value).flat();
    if (!isObject(value)) return [value, value];
    const [name, member] = random.pick([...Object.entries(value), ['tool', 'x'] as [string, JsonValue]]);
    const again = asWritten(
      random.chance(0.5)
        ? JSON.stringify(name)
        : `"\\u${name.charCodeAt(0).toString(16).padStart(4, '0')}${name.slice(1)}"`,
    );
    return entries(value, (all) => [...all, [again, random.chance(0.5) ? member : hostileValue(random)]]);
  },
  // Another name, or another case of it.
  (value, random) => {
    if (!isObject(value) || Object.keys(value).length === 0) return hostileValue(random);
    const [renamed] = random.pick(Object.entries(value));
    const name = random.chance(0.5)
      ? hostileName(random)
      : random.pick([renamed.toUpperCase(), `${renamed} `, `${renamed}\u200b`, `_${renamed}`]);
    return entries(value, (all) => all.map(([each, member]) => [each === renamed ? name : each, member]));
  },
  (value) => [value],
  (value) => ({ value }),
  // JSON within JSON.
  (value) => JSON.stringify(value),
  (value) => JSON.stringify(JSON.stringify(value)),
  // Another type that looks alike.
  (value, random) => {
    if (typeof value === 'number')
      return random.pick<JsonValue>([
        String(value),
        [value],
        value === 1,
        { value },
        asWritten(`${value}.0`),
        asWritten(`${value}e0`),
        asWritten(`${value}.0000000000000000000000001`),
      ]);
    if (typeof value === 'string')
      return random.pick<JsonValue>([
        Number(value) || 0,
        [value],
        { [value.slice(0, 40)]: value },
        `${value} `,
        `${value}\n`,
        `${value}\u0000`,
        value.toUpperCase(),
        value.slice(0, -1),
        value + value,
      ]);
    return random.pick<JsonValue>([0, '', false, 'null', 'true']);
  },
  (value, random) =>
    typeof value === 'number'
      ? random.pick([-value, value + 0.5, value * 1e6, value - 1, 0, 2 ** 53])
      : hostileString(random),
  (_, random) => nested(random.pick([10, 61, 63, 64, 65, 500]), random),
];

export function bendJson(value: JsonValue, random: Random): JsonValue {
  const path = random.pick(pathsIn(value));
  const bend = random.pick(BENDS);
  return changeAt(value, path, (node) => bend(node, random));
}
