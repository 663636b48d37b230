/** The limits that apply to an amount in its currency (docs/specification.md#currencies). */
import { decimalsOf } from '../money/iso-4217.ts';
import type { Limited, Limits } from '../ports.ts';

/** The flat members of a policy are minor units of currencies with two decimals. */
const FLAT_DECIMALS = 2;

/**
 * The limits of one currency. Null, which allows nothing, if the policy does not name the currency and its decimals
 * differ from those of the flat members. A named currency inherits absent members, except `confirm_above_cents` if its
 * decimals differ: then every call is confirmed.
 */
export function limitsIn(scope: Limited, currency: string): Limits | null {
  const named = Object.hasOwn(scope.limits, currency) ? scope.limits[currency] : undefined;
  const isFlat = decimalsOf(currency) === FLAT_DECIMALS;
  return named === undefined && !isFlat
    ? null
    : narrowed(scope, { confirm_above_cents: isFlat ? scope.confirm_above_cents : 0, ...named });
}

/** The limits of the currencies that the policy does not name. */
export const flatLimits = (scope: Limited): Limits => narrowed(scope, {});

/** The limits of each currency that the policy names. */
export const namedLimits = (scope: Limited): Record<string, Limits> =>
  Object.fromEntries(
    Object.keys(scope.limits).flatMap((currency) => {
      const limits = limitsIn(scope, currency);
      return limits === null ? [] : [[currency, limits]];
    }),
  );

function narrowed(scope: Limited, named: Partial<Limits>): Limits {
  const { max_refund_cents, max_session_refund_cents, confirm_above_cents } = { ...scope, ...named };
  return {
    max_refund_cents: Math.min(max_refund_cents, scope.own_max_refund_cents ?? Infinity),
    max_session_refund_cents: narrower(max_session_refund_cents, scope.own_max_session_refund_cents),
    confirm_above_cents,
  };
}

const narrower = (a: number | null, b: number | null): number | null =>
  a === null ? b : b === null ? a : Math.min(a, b);
