/** What the log may say of an exception. */
import * as z from 'zod';

/** A backend answered outside its tool's output schema, at that dotted path. */
export class DriftedAnswer extends Error {
  override name = 'DriftedAnswer';
  readonly tool: string;
  readonly field: string;

  constructor(tool: string, field: string) {
    super('a backend answered outside the output schema of its tool');
    this.tool = tool;
    this.field = field;
  }
}

/** D1 names tables, columns, constraints and its own state, never a bound value. */
const SAFE_MESSAGE = /^D1_ERROR: /;

export type ErrorFacts = { error: string; message?: string; tool?: string; fields?: string[]; at: string[] };

/**
 * The error's class and where it was thrown; of data that did not fit a schema the fields. Its message is left out unless it
 * is of a kind that holds no input: a JSON error quotes what it could not read, a fetch error the address.
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

/** The dotted paths an issue is about; of a union those of each of its branches. */
const fieldsOf = (issue: z.core.$ZodIssue): string[] =>
  issue.code === 'invalid_union' && issue.errors.length > 0
    ? issue.errors.flat().flatMap(fieldsOf)
    : [issue.path.join('.')];
