/** The queries and pages of the operator's lists. */
import { zValidator } from '@hono/zod-validator';
import * as z from 'zod';
import { InvalidCursor, type Page } from '../../ledger/columns.ts';
import { refuseQuery } from '../shared/body.ts';
import type { HttpContext, HttpEnv } from '../shared/context.ts';
import { problem } from '../shared/problem.ts';

export const pageLimit = z
  .string()
  .regex(/^(?:[1-9]\d{0,2}|1000)$/, 'must be a whole number from 1 to 1000')
  .default('100')
  .transform(Number)
  .describe('Rows of a page, 1 to 1000.');

/** Null if absent, because a URL cannot express null. */
export const orNull = <Schema extends z.ZodType>(schema: Schema) =>
  schema.optional().transform((value) => value ?? null);

export const comparedText = orNull(z.string().min(1).max(256));

/** An RFC 3339 time as ms since the epoch. */
export const comparedTime = orNull(z.iso.datetime({ offset: true }).transform((text) => Date.parse(text)));

export const cursor = orNull(z.string().max(1_024)).describe('What the page before gave as next_cursor.');

/**
 * Refuses unknown and ill-typed parameters, because a misspelled filter must not show everything. A known parameter
 * without a value is ignored, because clients send empty fields.
 */
export function checkedQuery<Schema extends z.ZodObject<z.ZodRawShape, z.core.$strict>>(schema: Schema) {
  const isLeftOpen = ([name, value]: [string, unknown]): boolean => value === '' && Object.hasOwn(schema.shape, name);
  const filled = z.preprocess(
    (query) => Object.fromEntries(Object.entries(query as object).filter((each) => !isLeftOpen(each))),
    schema,
  );
  const refuse = (result: { success: boolean; error?: z.core.$ZodError }, c: HttpContext): Response | undefined =>
    result.error && refuseQuery(c, result.error);
  return zValidator<Schema, 'query', HttpEnv, string, typeof refuse>('query', filled as unknown as Schema, refuse);
}

/** The schema of a page: the rows under their name, and what stands `beside` them. */
export const pageOf = (id: string, name: string, row: z.ZodType, beside: Record<string, z.ZodType> = {}) =>
  z
    .strictObject({
      [name]: z.array(row),
      ...beside,
      next_cursor: z.string().nullable().describe('Where the next page begins; null at the end.'),
    })
    .meta({ id });

/** A page, or the problem of a cursor that this list never handed out. */
export async function readPage<Read extends Page<unknown>>(
  c: HttpContext,
  page: Promise<Read>,
): Promise<Read | Response> {
  try {
    return await page;
  } catch (error) {
    if (!(error instanceof InvalidCursor)) throw error;
    return problem(c, 'invalid-body', { reason: 'cursor', detail: `query: cursor ${error.message}` });
  }
}
