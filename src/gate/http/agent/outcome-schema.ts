/** The outcome of a call as the published document describes it. Nothing is parsed with these schemas. */
import * as z from 'zod';
import type { JsonObject } from '../../json.ts';
import { APPROVAL_STATUSES, type ApprovalNotice, type Next, type Outcome } from '../../outcome.ts';
import { once } from '../shared/operation.ts';

/** What depends on this deployment's tools has a name; the document is assembled with its schema. */
const byName = (id: 'ToolArguments' | 'ToolData' | 'Code') => ({ $ref: `#/components/schemas/${id}` });

const NEXT: readonly Next[] = ['fix_and_retry', 'wait_for_approval', 'use_previous_result', 'stop_and_tell_user'];

export const approvalNotice = once(
  () =>
    z.strictObject({
      id: z.string().describe('Ask GET /v1/approvals/{id} for it.'),
      status: z.enum(APPROVAL_STATUSES),
      expires_at: z.iso.datetime().describe('When the approval expires unless someone decides before.'),
      arguments: z
        .custom<JsonObject>()
        .meta({ description: 'The arguments, defaults filled in.', ...byName('ToolArguments') }),
    }) satisfies z.ZodType<ApprovalNotice>,
);

/** What all outcomes have. */
const shared = once(() => ({
  call_id: z.string().describe("The call's id: the host's own, or made here."),
  tool: z.string().max(40).describe('Characters outside [A-Za-z0-9_.:-] are shown as "?".'),
  step: z.int().min(1).nullable().describe('The step it took; null where the session could not be reached.'),
  replayed: z.boolean().describe('Whether this is what an earlier call was told.'),
  deprecated: z.string().exactOptional().describe('The tool to use instead of this one.'),
}));

const okOutcome = once(() =>
  z
    .strictObject({
      ...shared(),
      ok: z.literal(true),
      code: z.literal('OK'),
      data: z
        .custom<JsonObject>()
        .meta({ description: "What the tool answers, by the tool's own schema.", ...byName('ToolData') }),
      approval: approvalNotice().exactOptional().describe('With get_approval.'),
      truncated: z.literal(true).exactOptional().describe('The answer was too large: its longest array lost items.'),
    })
    .meta({ id: 'OkOutcome' }),
);

const refusedOutcome = once(() =>
  z
    .strictObject({
      ...shared(),
      ok: z.literal(false),
      code: z
        .custom<string>()
        .meta({ description: "Why: one of the gate's codes or of the tool's own.", ...byName('Code') }),
      message: z.string().describe('What a person may be told as it stands.'),
      next: z.enum(NEXT).describe('What the model should do about it.'),
      problems: z
        .array(
          z.strictObject({
            field: z.string().describe('Dotted path; "arguments" is the whole object.'),
            issue: z.string(),
            hint: z.string().exactOptional().describe("The field's own description."),
          }),
        )
        .max(20)
        .exactOptional()
        .describe('With INVALID_ARGUMENTS.'),
      available: z.array(z.string()).exactOptional().describe('With UNKNOWN_TOOL: the tools of this session.'),
      approval: approvalNotice().exactOptional().describe('With CONFIRMATION_REQUIRED and get_approval.'),
    })
    .meta({ id: 'RefusedOutcome' }),
);

export const outcome = once(
  () =>
    z.discriminatedUnion('ok', [okOutcome(), refusedOutcome()]).meta({ id: 'Outcome' }) satisfies z.ZodType<Outcome>,
);
