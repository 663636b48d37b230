/** Keeps outcomes small enough for a model's context. */
import { byteLength } from '../canonical.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts';
import type { Outcome } from '../outcome.ts';
import { observationText } from './text.ts';

/** Limit of the text that the model reads, with its frame; the JSON answer is shorter. */
const MAX_OUTCOME_BYTES = 16 * 1024;

type Caps = { items: number; characters: number };

/**
 * Cuts an outcome to {@link MAX_OUTCOME_BYTES} and marks it `truncated`. The longest array loses items from its end; if
 * no items are left, the longest string loses characters.
 */
export function withinLimit(outcome: Outcome): Outcome {
  const { data } = outcome;
  if (data === undefined || fits(outcome)) return outcome;
  const shortened = (caps: Caps): Outcome => ({ ...outcome, data: shorten(data, caps), truncated: true });
  const withItems = (items: number): Outcome => shortened({ items, characters: Infinity });
  const withCharacters = (characters: number): Outcome => shortened({ items: 0, characters });
  return (
    largest(longest(data).items, withItems) ?? largest(longest(data).characters, withCharacters) ?? withCharacters(0)
  );
}

const fits = (outcome: Outcome): boolean => byteLength(observationText(outcome)) <= MAX_OUTCOME_BYTES;

/** Finds the largest cap below `length` that fits, by bisection. */
function largest(length: number, outcomeOf: (cap: number) => Outcome): Outcome | null {
  let [best, low, high]: [Outcome | null, number, number] = [null, 0, length - 1];
  while (low <= high) {
    const cap = Math.floor((low + high) / 2);
    const outcome = outcomeOf(cap);
    if (fits(outcome)) [best, low] = [outcome, cap + 1];
    else high = cap - 1;
  }
  return best;
}

function shorten(data: JsonObject, caps: Caps): JsonObject {
  const shortValue = (value: JsonValue): JsonValue => {
    if (typeof value === 'string') return value.slice(0, caps.characters).toWellFormed();
    if (Array.isArray(value)) return value.slice(0, caps.items).map(shortValue);
    return isJsonObject(value) ? shorten(value, caps) : value;
  };
  return Object.fromEntries(Object.entries(data).map(([name, value]) => [name, shortValue(value)]));
}

function longest(value: JsonValue): Caps {
  if (typeof value === 'string') return { items: 0, characters: value.length };
  const below = Array.isArray(value) ? value : isJsonObject(value) ? Object.values(value) : [];
  const lengths = below.map(longest);
  return {
    items: lengths.reduce((most, { items }) => Math.max(most, items), Array.isArray(value) ? value.length : 0),
    characters: lengths.reduce((most, { characters }) => Math.max(most, characters), 0),
  };
}
