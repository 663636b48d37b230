/** One JSON line of ids, patterns and fixed words: a log outlives its occasion, and whoever reads it may do nothing with it. */
import { errorFacts } from './error-facts.ts';

export const logLine = (facts: object): void => console.log(JSON.stringify(facts));

/** Of the exception only what holds no input. */
export const logError = (facts: object, error: unknown): void =>
  console.error(JSON.stringify({ ...facts, ...errorFacts(error) }));
