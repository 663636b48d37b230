/** What the log may say of an exception. */
import * as z from 'zod';

/** D1 names tables, columns, constraints and its own state, never a bound value; of a drifted answer the field is named. */
const SAFE_MESSAGE = /^D1_ERROR: |^[a-z0-9_]+ answered outside its output schema at [\w.]*$/;

export type ErrorFacts = { error: string; message?: string; fields?: string[]; at: string[] };

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
    ...(error instanceof z.ZodError ? { fields: [...new Set(error.issues.flatMap(fieldsOf))] } : {}),
    at: at.slice(0, 8).map((line) => line.trim()),
  };
}

/** The dotted paths an issue is about; of a union those of each of its branches. */
const fieldsOf = (issue: z.core.$ZodIssue): string[] =>
  issue.code === 'invalid_union' && issue.errors.length > 0
    ? issue.errors.flat().flatMap(fieldsOf)
    : [issue.path.join('.')];
