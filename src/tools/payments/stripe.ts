/** Stripe's API v1 as the gate relies on it. Each promise is cited from docs.stripe.com, read on 2026-12-01. */
import { defineBackend } from '../../gate/index.ts';

export const stripe = defineBackend({
  name: 'stripe',
  version: '2026-12-01',
  env: { origin: 'STRIPE_ORIGIN', account: 'STRIPE_ACCOUNT', secret: 'STRIPE_SECRET' },
  authorize: (secret) => ({ authorization: `Bearer ${secret}`, 'stripe-version': '2025-09-30.clover' }),
  // "Idempotent requests": keys of up to 255 characters are kept for at least 24 hours.
  key: { header: 'Idempotency-Key', max: 255 },
  keepMs: 24 * 60 * 60_000,
  // "Idempotent requests": nothing is saved where validation fails, so a refusal may be another one the next time. A 500 is
  // saved and replayed, so only a look-up settles it.
  refusals: 'not_kept',
});

/**
 * Currencies whose unit at Stripe is not the minor unit of ISO 4217 ("Supported currencies", zero-decimal currencies and
 * special cases): ISK and UGX are sent with two decimals and have none, MGA is sent with none and has two.
 */
export const OTHER_UNITS: ReadonlySet<string> = new Set(['ISK', 'UGX', 'MGA']);
