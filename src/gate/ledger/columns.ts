/** How columns become domain values. Rows are parsed where they leave the database; behind it nothing asks again. */
import { base64url } from 'jose';
import * as z from 'zod';
import type { JsonObject } from '../json.ts';
import type { SqlValue, Statement } from '../ports.ts';

/** An integer column; in SQLite an integer may come back only as a number. */
export const integer = z.int();

/** A column of 0 and 1. */
export const flag = z.union([z.literal(0), z.literal(1)]).transform((value) => value === 1);

/** A column holding JSON text of a known shape. */
export const jsonText = <Shape extends z.ZodType>(shape: Shape) =>
  z
    .string()
    .transform((text, context): unknown => {
      try {
        return JSON.parse(text);
      } catch {
        context.addIssue('not JSON');
        return z.NEVER;
      }
    })
    .pipe(shape);

/** Any JSON object. */
export const jsonObject: z.ZodType<JsonObject> = z.record(z.string(), z.json());

/**
 * Inserts a JSON array of rows, each with a member for every column: one parameter and one trip for any number of rows.
 * Names are the program's own. What becomes of a row that is there already is for the clause that must follow.
 */
export const insertFromJson = (table: string, columns: readonly string[]): string => `
  INSERT INTO ${table} (${columns.join(', ')})
  SELECT ${columns.map((column) => `value ->> '${column}'`).join(', ')} FROM json_each(?1) WHERE true`;

type Condition = readonly [sql: string, ...params: SqlValue[]];

/**
 * Joins the conditions of a query; a filter that is not set (null) makes none. SQLite follows no key through
 * `?1 IS NULL OR …`, and would read the whole table for every page.
 */
export function where(...conditions: (Condition | null)[]): Statement {
  const set = conditions.filter((condition) => condition !== null);
  return {
    sql: set.length === 0 ? '' : `WHERE ${set.map(([sql]) => `(${sql})`).join(' AND ')}`,
    params: set.flatMap(([, ...params]) => params),
  };
}

/** The condition of a filter, where it is set. */
export const filter = (sql: string, value: SqlValue): Condition | null => (value === null ? null : [sql, value]);

/** What a page of a list is: its rows, and where the next begins; null at the end. */
export type Page<Row> = { rows: Row[]; next_cursor: string | null };

/** A cursor that no list has handed out. */
export class InvalidCursor extends Error {
  override name = 'InvalidCursor';
}

/**
 * Makes a page of up to `limit` rows out of the `limit + 1` that were asked for: the one beyond says that there is a next.
 * A cursor is the last row's place in the order, so rows that are added meanwhile neither shift nor repeat any.
 */
export function pageOf<Row>(rows: Row[], limit: number, placeOf: (row: Row) => (string | number)[]): Page<Row> {
  const kept = rows.slice(0, limit);
  const last = kept.at(-1);
  return { rows: kept, next_cursor: rows.length > limit && last !== undefined ? cursorAt(placeOf(last)) : null };
}

/** Base64url, so that it passes a URL and a shell unquoted. */
const cursorAt = (place: (string | number)[]): string => base64url.encode(JSON.stringify(place));

function cursorText(cursor: string): string | null {
  try {
    return new TextDecoder().decode(base64url.decode(cursor));
  } catch {
    return null;
  }
}

/** Reads a cursor of {@link pageOf}; null begins at the start. Throws `InvalidCursor`. */
export function placeIn<Place extends z.ZodType>(cursor: string | null, place: Place): z.output<Place> | null {
  if (cursor === null) return null;
  const read = jsonText(place).safeParse(cursorText(cursor));
  if (!read.success) throw new InvalidCursor('was not handed out by this list');
  return read.data;
}
