/**
 * Which arguments an approver may be shown as they are: those that the tool could have written down beforehand. Everything
 * else is free text, which is cleaned and cut.
 */
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts';

/** No sentence, no invisible character and no letter that looks like another fits into it; a URI does. */
const TOKEN = /^[\x21-\x7e]{1,128}$/;

/** Of valid arguments the top-level ones that are numbers, booleans, members of a closed set, or tokens of a pattern. */
export function boundedNames(inputSchema: JsonObject, args: JsonObject): string[] {
  const properties = inputSchema['properties'] ?? null;
  if (!isJsonObject(properties)) return [];
  return Object.keys(args).filter((name) => {
    const property = Object.hasOwn(properties, name) ? (properties[name] ?? null) : null;
    return isJsonObject(property) && isBounded(property, args[name] ?? null);
  });
}

function isBounded(property: JsonObject, value: JsonValue): boolean {
  if (typeof value === 'boolean' || typeof value === 'number') return true;
  if (typeof value !== 'string') return false;
  const { enum: members, pattern } = property;
  if (Array.isArray(members)) return members.includes(value);
  return typeof pattern === 'string' && TOKEN.test(value);
}
