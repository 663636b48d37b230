/**
 * What zod says where a value does not fit its schema, in words for people and models. Each message completes a sentence
 * that begins with the field: "amount_cents must be a whole number, not a string". A message holds declared bounds and
 * values and the JSON type that was sent, never the value. A schema's own message has priority: one with a pattern should
 * bring "must look like ABC-123".
 */
import * as z from 'zod';

/** Installed for every schema. Modules that show such messages import this one. */
z.config({ localeError: messageOf });

const TYPES: Readonly<Record<string, string>> = {
  array: 'an array',
  boolean: 'true or false',
  int: 'a whole number',
  null: 'null',
  number: 'a number',
  object: 'an object',
  record: 'an object',
  string: 'a string',
};
const FORMS: Readonly<Record<string, string>> = {
  date: 'a date such as 2026-03-01',
  datetime: 'a time such as 2026-03-01T09:30:00Z',
  email: 'an e-mail address',
  url: 'a URL',
  uuid: 'a UUID',
};

function messageOf(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined ? 'is required' : `must be ${expectedType(issue)}, not ${typeOf(issue.input)}`;
    case 'invalid_value':
      if (issue.input === undefined) return 'is required';
      return `must be ${issue.values.length > 1 ? 'one of ' : ''}${issue.values.map((value) => JSON.stringify(value)).join(', ')}`;
    case 'too_small':
      return bound(issue.origin, issue.inclusive === false ? 'more than' : 'at least', issue.minimum);
    case 'too_big':
      return bound(issue.origin, issue.inclusive === false ? 'less than' : 'at most', issue.maximum);
    case 'invalid_format':
      return `must be ${FORMS[issue.format] ?? 'of the form that its description gives'}`;
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`;
    case 'unrecognized_keys':
      return 'has unknown fields';
    case 'invalid_union':
      return issue.input === undefined ? 'is required' : 'has none of the forms that are accepted here';
    default:
      return 'is not valid';
  }
}

function expectedType({ expected, inst }: z.core.$ZodRawIssue<z.core.$ZodIssueInvalidType>): string {
  const isInteger = inst instanceof z.ZodNumber && inst.format === 'safeint';
  return TYPES[isInteger ? 'int' : expected] ?? 'of another type';
}

function typeOf(input: unknown): string {
  if (input === null) return 'null';
  if (Array.isArray(input)) return 'an array';
  if (typeof input === 'number') return Number.isInteger(input) ? 'a number' : 'a fraction';
  if (typeof input === 'boolean') return 'a boolean';
  return typeof input === 'string' ? 'a string' : 'an object';
}

function bound(origin: string, limit: string, count: number | bigint): string {
  const units: Readonly<Record<string, string>> = { string: 'character', array: 'item' };
  const unit = units[origin];
  return unit === undefined
    ? `must be ${limit} ${count}`
    : `must have ${limit} ${count} ${unit}${count === 1 ? '' : 's'}`;
}
