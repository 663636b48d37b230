/** The stored policy of a caller. */
import * as z from 'zod';
import { decimalsOf } from '../money/iso-4217.ts';
import type { Policy } from '../ports.ts';
import { ANY_CUSTOMER, isCustomerPattern } from './customer-pattern.ts';

const cents = z.int().nonnegative();

/** The limits of one currency. Absent members are inherited (policy/limits.ts). */
const currencyLimits = z.strictObject({
  max_refund_cents: cents.exactOptional().describe('The most one refund may move, in minor units of the currency.'),
  max_session_refund_cents: cents.nullable().exactOptional().describe('The most a session may move; null: no limit.'),
  confirm_above_cents: cents.exactOptional().describe('Risky calls of more than this need an approver.'),
});

/**
 * Ranges are in docs/specification.md#administration; amounts are minor units, null means no limit. Unknown members are
 * ignored, because after a rollback newer policies are stored; each new member needs a `.default()` for old rows.
 * http/operator checks the operator's input strictly.
 */
export const policySchema = z.object({
  allowed_tools: z.array(z.string()),
  approvers: z.array(z.string()).max(10),
  customer_scope: z.enum(['required', 'any']),
  customer_pattern: z
    .string()
    .refine(isCustomerPattern, {
      error:
        'must be a pattern of at most 200 characters that is anchored at both ends and holds only characters, classes and repetitions: at most four of varying length, one of them unbounded',
    })
    .default(ANY_CUSTOMER),
  max_refund_cents: cents,
  max_session_refund_cents: cents.nullable(),
  confirm_above_cents: cents,
  limits: z
    .record(
      z
        .string()
        .refine((code) => decimalsOf(code) !== null, { error: 'must name currencies of ISO 4217, such as EUR' }),
      currencyLimits,
    )
    .default({}),
  max_steps: z.int().min(1).max(1000),
  max_duplicate_calls: z.int().min(1).max(1000),
  approval_ttl_seconds: z.int().min(60).max(604_800),
  identical_effects: z.enum(['replay', 'ask']),
}) satisfies z.ZodType<Policy>;
