import { ANY_CUSTOMER } from '../../src/gate/policy/customer-pattern.ts';
import type { CallerChange } from '../../src/gate/ports.ts';

/** What sessions are told of a caller that an operator revoked. */
export const revokedCaller: CallerChange = {
  version: 2,
  name: 'Shop assistant',
  revoked: true,
  pauses: [],
  policy: {
    allowed_tools: [],
    approvers: [],
    customer_scope: 'any',
    max_refund_cents: 0,
    max_session_refund_cents: null,
    confirm_above_cents: 0,
    limits: {},
    customer_pattern: ANY_CUSTOMER,
    max_steps: 10,
    max_duplicate_calls: 3,
    approval_ttl_seconds: 60,
    identical_effects: 'replay',
  },
};
