/**
 * What hosts and agents are answered, as schemas. Nothing is parsed with them: the routes' answers have their types, and the
 * published document and its contract test are made of them.
 */
import * as z from 'zod';
import type { JsonObject } from '../../json.ts';
import { APPROVAL_STATUSES, type ApprovalNotice, type Next, type Outcome } from '../../outcome.ts';
import type { SessionPolicy } from '../../session/rpc.ts';

/** RFC 3339, UTC. */
export const time = z.iso.datetime();
/** An object whose members are somebody else's contract. */
const anyObject = (description: string, more: Record<string, unknown> = {}) =>
  z.custom<JsonObject>().meta({ type: 'object', description, ...more });

/** What depends on this deployment's tools stands under these names, where the document is assembled. */
const byName = (id: 'ToolArguments' | 'ToolData' | 'Code') => ({ $ref: `#/components/schemas/${id}` });

const cents = z.int().min(0);
const amountLimit = (what: string) => cents.describe(`${what}, in minor units.`);

export const approvalStatus = z.enum(APPROVAL_STATUSES);

const validArguments = z
  .custom<JsonObject>()
  .meta({ description: 'The arguments, defaults filled in.', ...byName('ToolArguments') });

const approvalNotice = z.strictObject({
  id: z.string().describe('Ask GET /v1/approvals/{id} for it.'),
  status: approvalStatus,
  expires_at: time.describe('When it expires if nobody decides.'),
  arguments: validArguments,
}) satisfies z.ZodType<ApprovalNotice>;

const named = {
  call_id: z.string().describe("The call's id: the host's own, or made here."),
  tool: z.string().max(40).describe('Characters outside [A-Za-z0-9_.:-] are shown as "?".'),
};

const placed = {
  step: z.int().min(1).nullable().describe('The step it took; null where the session could not be reached.'),
  replayed: z.boolean().describe('Whether this is what an earlier call was told.'),
  deprecated: z.string().exactOptional().describe('The tool to use instead of this one.'),
};

export const okOutcome = z.strictObject({
  ...named,
  ok: z.literal(true),
  code: z.literal('OK'),
  ...placed,
  data: z
    .custom<JsonObject>()
    .meta({ description: "What the tool answers, by the tool's own schema.", ...byName('ToolData') }),
  approval: approvalNotice.exactOptional().describe('With get_approval.'),
  truncated: z.literal(true).exactOptional().describe('The answer was too large: its longest array lost items.'),
});

const next: z.ZodType<Next> = z.enum([
  'fix_and_retry',
  'wait_for_approval',
  'use_previous_result',
  'stop_and_tell_user',
]);

export const refusedOutcome = z.strictObject({
  ...named,
  ok: z.literal(false),
  code: z
    .custom<string>()
    .meta({ description: "Why: one of the gate's codes or of the tool's own.", ...byName('Code') }),
  ...placed,
  message: z.string().describe('What a person may be told as it stands.'),
  next: next.describe('What the model should do about it.'),
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
  approval: approvalNotice.exactOptional().describe('With CONFIRMATION_REQUIRED and get_approval.'),
});

export const outcome = z.discriminatedUnion('ok', [okOutcome, refusedOutcome]) satisfies z.ZodType<Outcome>;

export const providerAnswer = z.strictObject({
  results: z.array(anyObject("A tool result in the provider's own form, ready for its next request.")),
  outcomes: z.array(outcome).describe('One outcome for each result, in the same order.'),
  problems: z
    .array(z.strictObject({ item: z.int().min(0).describe('The place in results and outcomes.'), problem: z.string() }))
    .exactOptional()
    .describe('Which results cannot be paired with their call, because it came without the id its format needs.'),
});

export const toolDefinitions = z.strictObject({
  tools: z.array(anyObject("A definition as the provider's request takes it.")).describe('Sorted by name.'),
});

const limits = {
  max_refund_cents: amountLimit('The most one refund may move'),
  max_session_refund_cents: amountLimit('The most the session may move, open requests included').nullable(),
  confirm_above_cents: amountLimit('Refunds above this need a person'),
};

const sessionPolicy = z.strictObject({
  tools: z.array(z.string()),
  max_steps: z.int().min(1).describe('Calls the session may make, refused ones included.'),
  max_duplicate_calls: z.int().min(1).describe('How often one call may be repeated.'),
  ...limits,
  limits: z
    .record(z.string(), z.strictObject(limits))
    .describe('By ISO 4217 code; the members above are for other currencies with two decimals.'),
  customer_id: z.string().exactOptional().describe('The only customer whose orders and accounts exist here.'),
  approvers: z.int().min(0).describe('How many people are asked.'),
}) satisfies z.ZodType<SessionPolicy>;

export const openedSession = z.strictObject({
  session_id: z.string(),
  token: z.string().describe("The agent's credential for this session."),
  expires_at: time.describe('When the token ends; rejoining gives another.'),
  policy: sessionPolicy,
});

export const endedSession = z.strictObject({ session_id: z.string(), ended_at: time });

export const approval = z.strictObject({
  ...approvalNotice.shape,
  tool: z.string(),
  decided_at: time.exactOptional(),
  note: z.string().exactOptional().describe('What the person who rejected it wrote.'),
  delivery: z
    .strictObject({ asked: cents, sent: cents, undeliverable: cents })
    .describe('Approvers asked, mails that left, and mails that never will.'),
  outcome: outcome.exactOptional().describe('What the call would be told now that it is decided.'),
});

/** RFC 9457. */
export const problemDetails = z.strictObject({
  type: z.string().describe('The page that explains it.'),
  title: z.string(),
  status: z.int(),
  detail: z.string().exactOptional().describe('Names of members and what is expected there, never a value.'),
});

export const health = z.strictObject({ status: z.literal('ok') });
export const readiness = z.strictObject({ status: z.literal('ready') });

/** One message of JSON-RPC 2.0, as the Model Context Protocol defines them. */
export const jsonRpc = anyObject('One JSON-RPC 2.0 message.');
