import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import '../../src/gate/schema-messages.ts';
import { CallerPatchBody, NewCallerBody, RotationBody } from '../../src/gate/http/operator/caller-bodies.ts';
import { AuditQuery } from '../../src/gate/http/operator/admin-audit.ts';
import { ApprovalQuery } from '../../src/gate/http/agent/approval-status.ts';
import { CallBody } from '../../src/gate/http/agent/calls.ts';
import { OpenBody } from '../../src/gate/http/agent/sessions.ts';
import { ToolsQuery } from '../../src/gate/http/agent/tool-definitions.ts';
import { allTools } from '../support/tools.ts';

const messagesOf = (schema: z.ZodType, value: unknown): string[] =>
  schema.safeParse(value).error?.issues.map(({ message }) => message) ?? [];

const LEAKED = /invalid|expected|received|undefined|nan\b|strict|regex|record|[\\^${}]/i;
/** Values that fit no schema for a member, whatever it declares, and that a message must not repeat. */
const HOSTILE = [
  undefined,
  null,
  true,
  'Zebra\u202e',
  '',
  -7.25,
  1e300,
  'Zebra'.repeat(2_000),
  ['Zebra'],
  { Zebra: 1 },
];

describe('a message about a value', () => {
  it.each([
    [z.array(z.string()), undefined, 'is required'],
    [z.enum(['BRL', 'USD']), undefined, 'is required'],
    [z.union([z.string(), z.int()]), undefined, 'is required'],
    [z.array(z.string()), 'a', 'must be an array, not a string'],
    [z.int(), '2590', 'must be a whole number, not a string'],
    [z.int().positive(), '2590', 'must be a whole number, not a string'],
    [z.int(), 25.9, 'must be a whole number, not a fraction'],
    [z.number(), [], 'must be a number, not an array'],
    [z.string(), null, 'must be a string, not null'],
    [z.string(), 1, 'must be a string, not a number'],
    [z.boolean(), 'true', 'must be true or false, not a string'],
    [z.boolean(), {}, 'must be true or false, not an object'],
    [z.strictObject({}), true, 'must be an object, not a boolean'],
    [z.record(z.string(), z.int()), [], 'must be an object, not an array'],
    [z.null(), 1, 'must be null, not a number'],
    [z.enum(['BRL', 'USD']), 'EUR', 'must be one of "BRL", "USD"'],
    [z.literal('yes'), 'no', 'must be "yes"'],
    [z.int().min(1), 0, 'must be at least 1'],
    [z.int().positive(), 0, 'must be more than 0'],
    [z.int().max(9), 10, 'must be at most 9'],
    [z.number().lt(9), 9, 'must be less than 9'],
    [z.string().min(1), '', 'must have at least 1 character'],
    [z.string().max(3), 'Zebra', 'must have at most 3 characters'],
    [z.array(z.int()).max(1), [1, 2], 'must have at most 1 item'],
    [z.email(), 'Zebra', 'must be an e-mail address'],
    [z.iso.datetime(), 'Zebra', 'must be a time such as 2026-03-01T09:30:00Z'],
    [z.string().regex(/^CUS-\d+$/), 'Zebra', 'must be of the form that its description gives'],
    [z.string().regex(/^CUS-\d+$/, 'must look like CUS-123'), 'Zebra', 'must look like CUS-123'],
    [z.int().multipleOf(5), 7, 'must be a multiple of 5'],
    [z.union([z.string(), z.boolean()]), 7, 'has none of the forms that are accepted here'],
    [z.custom((value) => value === 1), 7, 'is not valid'],
  ])('of %o tells in plain words that %o does not fit', (schema, value, message) =>
    expect(messagesOf(schema, value)).toEqual([message]),
  );

  const published: [string, z.ZodObject][] = [
    ['POST /admin/callers', NewCallerBody],
    ['PATCH /admin/callers/{id}', CallerPatchBody],
    ['POST /admin/callers/{id}/rotate', RotationBody],
    ['GET /admin/audit', AuditQuery],
    ['POST /v1/sessions', OpenBody],
    ['POST /v1/calls', CallBody],
    ['GET /v1/tools', ToolsQuery],
    ['GET /v1/approvals/{id}', ApprovalQuery],
  ];

  it.each(published)('of %s holds no word of a library, no pattern and nothing that was sent', (_route, schema) => {
    for (const [name, member] of Object.entries(schema.shape))
      for (const value of HOSTILE)
        for (const message of messagesOf(member as z.ZodType, value)) {
          expect(message, name).not.toMatch(LEAKED);
          expect(message, name).not.toMatch(/Zebra|7\.25/);
        }
  });

  it.each(allTools.map((tool) => [tool.name, tool] as const))(
    'of an argument of %s holds no word of a library, no pattern and nothing that was sent',
    (_name, { bind, inputSchema }) => {
      for (const name of Object.keys(inputSchema['properties'] as object))
        for (const value of HOSTILE.filter((each) => each !== undefined)) {
          const bound = bind({ [name]: value });
          for (const { issue } of bound.ok ? [] : bound.problems) {
            expect(issue, name).not.toMatch(LEAKED);
            expect(issue, name).not.toMatch(/Zebra|7\.25|its description/);
          }
        }
    },
  );
});
