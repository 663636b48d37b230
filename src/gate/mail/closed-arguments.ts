/**
 * Which arguments a mail may hold. Mail clients turn words into links and cannot be given a policy, so a mail repeats only
 * what could be written down beforehand: numbers, booleans, members of closed sets, strings of a pattern. Free text is for
 * the page.
 */
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts';

export type ClosedArguments = { shown: { name: string; value: string }[]; left: number };

/** No dot, slash, colon or at sign: a pattern of the tool may allow them, and a mail client would make a link of the value. */
const PLAIN_TOKEN = /^[A-Za-z0-9_-]{1,64}$/;

/** Splits the arguments into those a mail may show, in the order of the tool's schema, and the number of the others. */
export function closedArguments(inputSchema: JsonObject | null, args: JsonObject): ClosedArguments {
  const declared = inputSchema?.['properties'] ?? null;
  const properties = isJsonObject(declared) ? Object.entries(declared) : [];
  const shown = properties.flatMap(([name, property]) => {
    const value = Object.hasOwn(args, name) ? closedValue(isJsonObject(property) ? property : {}, args[name]) : null;
    return value === null ? [] : [{ name, value }];
  });
  return { shown, left: Object.keys(args).length - shown.length };
}

/** The value as a mail writes it, or null where only the page may show it. */
function closedValue(property: JsonObject, value: JsonValue | undefined): string | null {
  if (typeof value === 'boolean' || typeof value === 'number') return String(value);
  if (typeof value !== 'string') return null;
  const members = property['enum'];
  if (Array.isArray(members)) return members.includes(value) ? value : null;
  return typeof property['pattern'] === 'string' && PLAIN_TOKEN.test(value) ? value : null;
}
