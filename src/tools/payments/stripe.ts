/** Stripe's API v1 as the gate relies on it. Each promise names the page of docs.stripe.com that makes it. */
import { defineBackend } from '../../gate/index.ts';

const HOUR_MS = 60 * 60_000;

export const stripe = defineBackend({
  name: 'stripe',
  version: '2026-12-01',
  env: { origin: 'STRIPE_ORIGIN', account: 'STRIPE_ACCOUNT', secret: 'STRIPE_SECRET' },
  // "Authentication" (/api/authentication) and "Versioning" (/api/versioning): without the header the account's default
  // version would decide what the answers look like.
  authorize: (secret) => ({ authorization: `Bearer ${secret}`, 'stripe-version': '2025-09-30.clover' }),
  // "Idempotent requests" (/api/idempotent_requests): keys have up to 255 characters, and are kept for at least 24 hours.
  key: { header: 'Idempotency-Key', max: 255 },
  keepMs: 24 * HOUR_MS,
  // "Advanced error handling" (/error-low-level): most 400s for invalid parameters come before the idempotency layer, so the
  // same request may be refused now although an earlier copy was executed.
  refusals: 'not_kept',
  // "Advanced error handling", server errors: a 500 is stored and replayed, its result is indeterminate, and Stripe may roll
  // the refund forward while it mends the incident. No time is promised, so a refund that a 500 hides counts as absent only
  // long after incidents usually end.
  quietMs: 6 * HOUR_MS,
});

/**
 * "Supported currencies" (/currencies#zero-decimal and #special-cases): ISK and UGX are sent with two decimals and have none
 * in ISO 4217, MGA is sent with none and has two.
 */
const OTHER_UNITS = ['ISK', 'MGA', 'UGX'];
/**
 * Three decimals in ISO 4217. Earlier versions of the same page required their last digit to be 0; the current one does not
 * name them, and says that currencies have two decimals unless it specifies otherwise.
 */
const UNCLEAR_UNITS = ['BHD', 'IQD', 'JOD', 'KWD', 'LYD', 'OMR', 'TND'];

const UNSUPPORTED: ReadonlySet<string> = new Set([...OTHER_UNITS, ...UNCLEAR_UNITS]);

/** Whether an amount at Stripe is the same number of minor units of ISO 4217. `currency` is in upper case. */
export const hasIsoUnit = (currency: string): boolean => !UNSUPPORTED.has(currency);
