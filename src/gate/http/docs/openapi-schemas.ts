/** The published document's schemas, made of those that bodies are read by and answers are held to. */
import * as z from 'zod';
import type { JsonObject } from '../../json.ts';
import type { Registry } from '../../tool/registry.ts';
import { gateCodes } from '../shared/codes.ts';
import { CallerPatchBody, NewCallerBody, RotationBody } from '../operator/caller-bodies.ts';
import { CallBody } from '../agent/calls.ts';
import { OpenBody } from '../agent/sessions.ts';
import * as wireAdmin from '../operator/wire-admin.ts';
import * as wire from '../agent/wire.ts';

/** Taken as it is sent, so a member with a default may be absent. */
const taken = z.registry<{ id: string }>();
taken.add(OpenBody, { id: 'SessionToOpen' });
taken.add(CallBody, { id: 'Call' });
taken.add(NewCallerBody, { id: 'CallerToMake' });
taken.add(CallerPatchBody, { id: 'CallerChange' });
taken.add(RotationBody, { id: 'KeyRotation' });

const answered = z.registry<{ id: string }>();
answered.add(wire.openedSession, { id: 'OpenedSession' });
answered.add(wire.endedSession, { id: 'EndedSession' });
answered.add(wire.okOutcome, { id: 'OkOutcome' });
answered.add(wire.refusedOutcome, { id: 'RefusedOutcome' });
answered.add(wire.outcome, { id: 'Outcome' });
answered.add(wire.providerAnswer, { id: 'ProviderAnswer' });
answered.add(wire.toolDefinitions, { id: 'ToolDefinitions' });
answered.add(wire.approval, { id: 'Approval' });
answered.add(wire.problemDetails, { id: 'Problem' });
answered.add(wireAdmin.newCaller, { id: 'NewCaller' });
answered.add(wireAdmin.callerList, { id: 'CallerList' });
answered.add(wireAdmin.changedCaller, { id: 'ChangedCaller' });
answered.add(wireAdmin.rotatedKey, { id: 'RotatedKey' });
answered.add(wireAdmin.approvalList, { id: 'ApprovalList' });
answered.add(wireAdmin.approvalAction, { id: 'ApprovalAction' });
answered.add(wireAdmin.auditRow, { id: 'AuditRow' });
answered.add(wireAdmin.auditPage, { id: 'AuditPage' });
answered.add(wireAdmin.chainHeads, { id: 'ChainHeads' });
answered.add(wireAdmin.attemptPage, { id: 'AttemptPage' });

const pointer = (id: string): string => `#/components/schemas/${id}`;

const OPTIONS = {
  unrepresentable: 'any',
  // The format says it; zod's pattern for it fills half a page.
  override: ({ jsonSchema }: { jsonSchema: z.core.JSONSchema.BaseSchema }) => {
    if (jsonSchema.format !== undefined) delete jsonSchema.pattern;
  },
} as const;

/** Everything that has a name of its own in the document. */
export function namedSchemas({ tools }: Registry): Record<string, JsonObject> {
  const made = {
    ...z.toJSONSchema(taken, { ...OPTIONS, io: 'input', uri: pointer }).schemas,
    ...z.toJSONSchema(answered, { ...OPTIONS, io: 'output', uri: pointer }).schemas,
  };
  const anyOf = (part: 'arguments' | 'data'): JsonObject => ({
    type: 'object',
    anyOf: tools.map(({ name }) => ({ $ref: pointer(`${name}.${part}`) })),
  });
  const codes = new Set([...gateCodes, ...tools.flatMap(({ codes }) => codes).toSorted()]);
  return {
    ...Object.fromEntries(Object.entries(made).map(([id, schema]) => [id, bare(schema)])),
    ToolArguments: anyOf('arguments'),
    ToolData: anyOf('data'),
    Code: { type: 'string', enum: [...codes] },
    ...Object.fromEntries(
      tools.flatMap(({ name, inputSchema, outputSchema }) => [
        [`${name}.arguments`, inputSchema],
        [`${name}.data`, outputSchema],
      ]),
    ),
  };
}

/** Points to a schema that has a name; another stands where it is used. */
export function schemaOf(schema: z.ZodType): JsonObject {
  const id = taken.get(schema)?.id ?? answered.get(schema)?.id;
  return id === undefined ? bare(z.toJSONSchema(schema, { ...OPTIONS, io: 'input' })) : { $ref: pointer(id) };
}

/** The document says once which dialect it speaks, and where its schemas are. */
function bare(schema: object): JsonObject {
  const { $schema: _dialect, $id: _id, ...rest } = schema as JsonObject;
  return rest;
}
