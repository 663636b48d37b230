/** Turns zod's issues into the problems a model is told: the field, what is wrong with it, and its own description. */
import type * as z from 'zod';
import type { JsonObject } from '../json.ts';
import '../schema-messages.ts';
import { shownMemberName, type Problem } from '../outcome.ts';

const MAX_PROBLEMS = 20;

/** At most 20, in the schema's order; `hint` repeats the description of a declared field. */
export function problemsOf(error: z.ZodError, inputSchema: JsonObject): Problem[] {
  return error.issues.flatMap((issue) => toProblems(issue, inputSchema)).slice(0, MAX_PROBLEMS);
}

function toProblems(issue: z.core.$ZodIssue, inputSchema: JsonObject): Problem[] {
  const path = issue.path.map(String);
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({
      field: [...path, shownMemberName(key)].join('.'),
      issue: 'is not a known field; remove it',
    }));
  }
  const hint = descriptionAt(inputSchema, path);
  const problem = { field: path.join('.') || 'arguments', issue: issue.message };
  return [hint === undefined ? problem : { ...problem, hint }];
}

function descriptionAt(schema: JsonObject, path: string[]): string | undefined {
  let at: unknown = schema;
  for (const name of path) {
    const properties = (at as JsonObject | undefined)?.['properties'] as JsonObject | undefined;
    at = properties !== undefined && Object.hasOwn(properties, name) ? properties[name] : undefined;
  }
  const description = path.length === 0 ? undefined : (at as JsonObject | undefined)?.['description'];
  return typeof description === 'string' ? description : undefined;
}
