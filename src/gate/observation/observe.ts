/** What leaves the gate of an outcome: outside strings cleaned, size bounded. The JSON answer and the text share it. */
import type { JsonObject } from '../json.ts';
import type { Outcome } from '../outcome.ts';
import { cleanData } from './clean-data.ts';
import { withinLimit } from './size-limits.ts';

/** `outputSchema` is the published one of the outcome's tool; an outcome without data passes as it is. */
export function observe(outcome: Outcome, outputSchema: JsonObject): Outcome {
  if (outcome.data === undefined) return outcome;
  return withinLimit({ ...outcome, data: cleanData(outcome.data, outputSchema) });
}
