/** What an operator may set for a caller (docs/specification.md#administration), and what does not go together. */
import * as z from 'zod';
import { shownToolName } from '../../outcome.ts';
import { MAX_ADDRESS_CHARACTERS, type Policy } from '../../ports.ts';
import { policySchema } from '../../policy/policy.ts';
import { GET_APPROVAL } from '../../tool/get-approval.ts';
import { ANY_CUSTOMER } from '../../policy/customer-pattern.ts';
import { visibleText } from './visible-text.ts';
import type { Registry } from '../../tool/registry.ts';

/** Mail clients make a link of these; a mail holds one link. */
const LINKS = /:\/\/|www\.|</i;
const MAX_NAME_CHARACTERS = 60;
const distinct = (names: string[]): boolean => new Set(names).size === names.length;

const name = visibleText(1, MAX_NAME_CHARACTERS)
  .refine((text) => !LINKS.test(text), { error: 'must hold no link: no "://", no "www." and no "<"' })
  .describe('Shown to approvers: 1 to 60 characters.');

const stored = policySchema.shape;

/** A policy as operators send and see it. */
export const policy = z.strictObject({
  allowed_tools: stored.allowed_tools.describe('The tools its sessions may use.'),
  approvers: stored.approvers.describe('Addresses of those who are asked.'),
  customer_scope: stored.customer_scope.describe('Whether each session must name its customer.'),
  max_refund_cents: stored.max_refund_cents.describe('The most one refund may move.'),
  max_session_refund_cents: stored.max_session_refund_cents.describe(
    'The most a session may move, per currency; null: no limit.',
  ),
  confirm_above_cents: stored.confirm_above_cents.describe('Risky calls of more than this need an approver.'),
  limits: stored.limits
    .unwrap()
    .describe(
      'Limits by ISO 4217 code. The members above are for currencies with two decimals that are not named here; another currency moves only if it is named.',
    ),
  customer_pattern: stored.customer_pattern.unwrap().describe('What a customer id must look like.'),
  max_steps: stored.max_steps.describe('Calls a session may make.'),
  max_duplicate_calls: stored.max_duplicate_calls.describe('How often a session may repeat one call.'),
  approval_ttl_seconds: stored.approval_ttl_seconds.describe('How long an approval waits.'),
  identical_effects: stored.identical_effects.describe(
    'What an effect proposed again gets: the outcome of the first, or a new approval.',
  ),
}) satisfies z.ZodType<Policy>;

const settings = z.strictObject({
  name,
  ...policy.shape,
  allowed_tools: policy.shape.allowed_tools.refine(distinct, { error: 'names a tool twice' }),
  // zod's address is ASCII and has no line breaks: a mail header can be made of it.
  approvers: z
    .array(z.email().max(MAX_ADDRESS_CHARACTERS))
    .max(10)
    .refine((addresses) => distinct(addresses.map((address) => address.toLowerCase())), {
      error: 'holds an address twice',
    })
    .describe('E-mail addresses of those who are asked.'),
});

const { shape } = settings;

/** `POST /admin/callers`. Defaults are the careful ones: a customer is required, every risky call is confirmed. */
export const NewCallerBody = settings.extend({
  customer_scope: shape.customer_scope.default('required'),
  max_refund_cents: shape.max_refund_cents.default(50_000),
  max_session_refund_cents: shape.max_session_refund_cents.default(null),
  confirm_above_cents: shape.confirm_above_cents.default(0),
  limits: shape.limits.default({}),
  customer_pattern: shape.customer_pattern.default(ANY_CUSTOMER),
  max_steps: shape.max_steps.default(10),
  max_duplicate_calls: shape.max_duplicate_calls.default(3),
  approval_ttl_seconds: shape.approval_ttl_seconds.default(86_400),
  identical_effects: shape.identical_effects.default('replay'),
});

/** `PATCH /admin/callers/{id}`: what is absent stays; null takes `max_session_refund_cents` away. */
export const CallerPatchBody = settings.exactPartial();

/** `POST /admin/callers/{id}/rotate`. */
export const RotationBody = z.strictObject({
  grace_seconds: z.int().min(0).max(604_800).describe('How long the old key stays good.'),
  end_sessions: z.boolean().default(false).describe('Whether open sessions are ended.'),
});

/** Says why a policy, each field of it good, is no policy; null where it is one. */
export function policyMisfit({ allowed_tools, approvers }: Policy, registry: Registry): string | null {
  if (allowed_tools.includes(GET_APPROVAL)) return `allowed_tools must not name ${GET_APPROVAL}: risky tools bring it`;
  const unknown = allowed_tools.find((tool) => registry.get(tool) === undefined);
  if (unknown !== undefined) return `allowed_tools names a tool that does not exist: ${shownToolName(unknown)}`;
  const risky = approvers.length > 0 ? undefined : allowed_tools.find((tool) => registry.get(tool)?.risky);
  return risky === undefined ? null : `approvers must have at least one address, because ${risky} is risky`;
}
