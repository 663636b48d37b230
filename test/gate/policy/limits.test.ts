import { describe, expect, it } from 'vitest';
import { limitsIn } from '../../../src/gate/policy/limits.ts';
import type { Limited } from '../../../src/gate/ports.ts';

const scope = (changes: Partial<Limited> = {}): Limited => ({
  max_refund_cents: 50_000,
  max_session_refund_cents: null,
  confirm_above_cents: 5_000,
  limits: {},
  own_max_refund_cents: null,
  own_max_session_refund_cents: null,
  ...changes,
});

describe('limitsIn', () => {
  it.each(['JPY', 'KWD', 'CLF', 'XAU', 'ABC'])('lets nothing move in %s that the policy does not name', (currency) =>
    expect(limitsIn(scope(), currency)).toBeNull(),
  );

  it('has a person confirm every amount of a named currency of other decimals, unless it says above which', () => {
    expect(limitsIn(scope({ limits: { JPY: {} } }), 'JPY')).toMatchObject({ confirm_above_cents: 0 });
    const limits = { JPY: { confirm_above_cents: 4_900 } };
    expect(limitsIn(scope({ limits }), 'JPY')).toMatchObject({ confirm_above_cents: 4_900, max_refund_cents: 50_000 });
  });

  it('is not fooled by the name of a member that every object has', () => {
    expect(limitsIn(scope(), 'constructor')).toBeNull();
  });
});
