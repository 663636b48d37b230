/** Log lines of one JSON object. Logs are kept long and read by people without authority, so they hold ids, patterns and fixed words. */
import * as z from 'zod';

/** A back end's answer does not fit the tool's output schema at this dotted path. */
export class DriftedAnswer extends Error {
  override name = 'DriftedAnswer';
  readonly tool: string;
  readonly field: string;
  constructor(tool: string, field: string) {
    super("the answer does not fit the tool's output schema");
    this.tool = tool;
    this.field = field;
  }
}

/** D1 messages name tables, columns, constraints and states, never a bound value. */
const SAFE_MESSAGE = /^D1_ERROR: /;

export type ErrorFacts = { error: string; message?: string; tool?: string; fields?: string[]; at: string[] };

/**
 * The class of an error, where it was thrown, and the fields that failed a schema. Most messages are omitted because
 * they may quote input: a JSON error quotes text, a fetch error the address.
 */
export function errorFacts(error: unknown): ErrorFacts {
  if (!(error instanceof Error)) return { error: typeof error, at: [] };
  const at = (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line));
  return {
    error: error.name,
    ...(SAFE_MESSAGE.test(error.message) ? { message: error.message } : {}),
    ...(error instanceof DriftedAnswer ? { tool: error.tool, fields: [error.field] } : {}),
    ...(error instanceof z.ZodError ? { fields: [...new Set(error.issues.flatMap(fieldsOf))] } : {}),
    at: at.slice(0, 8).map((line) => line.trim()),
  };
}

export const logLine = (facts: object): void => console.log(JSON.stringify(facts));

export const logError = (facts: object, error: unknown): void =>
  console.error(JSON.stringify({ ...facts, ...errorFacts(error) }));

/** The dotted paths of an issue, and of every branch of a union. */
const fieldsOf = (issue: z.core.$ZodIssue): string[] =>
  issue.code === 'invalid_union' && issue.errors.length > 0
    ? issue.errors.flat().flatMap(fieldsOf)
    : [issue.path.join('.')];
