/** Makes the story of a seed. */
import { ANY_CUSTOMER } from '../../src/gate/policy/customer-pattern.ts';
import type { Policy } from '../../src/gate/ports.ts';
import { ELSEWHERE } from './elsewhere.ts';
import { Random } from './random.ts';
import type { Client, OperatorAct, Own, Refunding, Scenario, Step } from './scenario.ts';
import { momentOf, troubleOf } from './trouble.ts';

/** Of the stories this share goes through HTTP, which costs about twice as much. */
const HTTP_SHARE = 1 / 8;
const ADDRESSES = ['ana@shop.test', 'bo@shop.test', 'cy@shop.test'];

export function scenarioOf(seed: number): Scenario {
  const random = new Random(`scenario ${seed}`);
  const calm = random.chance(0.08);
  const callers = Array.from({ length: random.int(1, 2) }, (_, i) => ({ name: `Shop ${i}`, policy: policyOf(random) }));
  const orders = Array.from({ length: random.int(1, 3) }, () => ({
    customer_id: random.pick(['CUS-1', 'CUS-1', 'CUS-2']),
    total_cents: random.pick([3_000, 6_000, 12_000]),
    currency: random.pick(['BRL', 'BRL', 'USD'] as const),
    elsewhere: random.chance(0.3) ? random.pick(ELSEWHERE) : null,
  }));
  const sessions = Array.from({ length: random.int(1, 4) }, (_, i) => ({
    name: `s${i}`,
    caller: random.int(0, callers.length - 1),
    customer_id: random.chance(0.7) ? 'CUS-1' : null,
    requested_by: random.chance(0.2) ? random.pick(ADDRESSES) : null,
    own: random.chance(0.3) ? ownOf(random) : {},
    ttl_seconds: random.pick([60, 600, 3_600]),
  }));
  const refunds = refundsOf(random, orders);
  const clients = Array.from({ length: clientsOf(random) }, (_, i) =>
    clientOf(i, sessions.length, orders.length, refunds, random),
  );
  return {
    seed,
    http: random.chance(HTTP_SHARE),
    long: random.chance(0.04),
    callers,
    orders,
    sessions,
    clients,
    operators: random.chance(0.6)
      ? Array.from({ length: random.int(1, 4) }, () => operatorAct(callers.length, orders.length, clients, random))
      : [],
    ...troubleOf(calm, sessions.length, clients, random),
  };
}

/** 3 to 20, mostly few: many small worlds find more than few large ones. */
const clientsOf = (random: Random): number => (random.chance(0.95) ? random.int(3, 4) : random.int(5, 20));

function policyOf(random: Random): Policy {
  return {
    allowed_tools: random.chance(0.95) ? ['get_order', 'refund_order', ...ELSEWHERE] : ['get_order'],
    approvers: ADDRESSES.slice(0, random.int(1, 3)),
    customer_scope: random.chance(0.8) ? 'any' : 'required',
    max_refund_cents: random.pick([2_000, 5_000, 50_000, 50_000]),
    max_session_refund_cents: random.pick([null, null, 3_000, 6_000]),
    confirm_above_cents: random.pick([0, 0, 1_500, 50_000, 50_000]),
    limits: {},
    customer_pattern: ANY_CUSTOMER,
    max_steps: random.pick([3, 6, 10, 20]),
    max_duplicate_calls: random.pick([1, 2, 3, 5]),
    approval_ttl_seconds: random.pick([60, 120, 600, 3_600]),
    identical_effects: random.chance(0.8) ? 'replay' : 'ask',
  };
}

const ownOf = (random: Random): Own => ({
  ...(random.chance(0.4) ? { max_steps: random.int(2, 8) } : {}),
  ...(random.chance(0.4) ? { max_refund_cents: random.pick([1_000, 2_500]) } : {}),
  ...(random.chance(0.4) ? { max_session_refund_cents: random.pick([1_000, 4_000]) } : {}),
});

/** Few different ones, so that clients propose the same and compete for the same money. */
function refundsOf(random: Random, orders: Scenario['orders']): Refunding[] {
  return Array.from({ length: random.int(1, 3) }, () => {
    const order = random.int(0, orders.length - 1);
    const own = orders[order]?.currency ?? 'BRL';
    return {
      order,
      amount_cents: random.pick([900, 1_000, 1_600, 2_500, 4_000, 7_000]),
      currency: random.chance(0.95) ? own : own === 'BRL' ? 'USD' : 'BRL',
      reason: random.pick(['damaged', 'not_delivered', 'customer_request'] as const),
    };
  });
}

function clientOf(i: number, sessions: number, orders: number, refunds: Refunding[], random: Random): Client {
  return {
    name: `client${i}`,
    session: random.int(0, sessions - 1),
    startMs: random.chance(0.5) ? random.skewed(0, 500) : random.skewed(0, 60_000),
    steps: Array.from({ length: random.int(1, 4) }, () => stepOf(orders, refunds, random)),
  };
}

function stepOf(orders: number, refunds: Refunding[], random: Random): Step {
  const pauseMs = random.chance(0.7) ? random.skewed(0, 2_000) : random.skewed(1_000, 180_000);
  const kind = random.unit();
  if (kind < 0.66) {
    const refund = random.pick(refunds);
    return {
      do: 'refund',
      pauseMs,
      refund,
      id: random.pick(['new', 'new', 'new', 'again', 'none']),
      retries: random.int(0, 3),
    };
  }
  if (kind < 0.76) return { do: 'read', pauseMs, order: random.int(0, orders - 1) };
  if (kind < 0.79) return { do: 'nonsense', pauseMs };
  if (kind < 0.92) return { do: 'poll', pauseMs, waitSeconds: random.pick([0, 0, 5, 25]) };
  if (kind < 0.97) return { do: 'rejoin', pauseMs, own: random.chance(0.4) ? ownOf(random) : {} };
  return { do: 'end', pauseMs };
}

function operatorAct(callers: number, orders: number, clients: Client[], random: Random): OperatorAct {
  const when = { atMs: momentOf(clients, random), atRead: random.chance(0.3) ? random.int(1, 6) : null };
  const kind = random.unit();
  const caller = random.int(0, callers - 1);
  if (kind < 0.5) return { act: 'patch', ...when, caller, patch: patchOf(random) };
  if (kind < 0.7) return { act: 'revoke', ...when, caller };
  if (kind < 0.87) return { act: random.chance(0.7) ? 'withdraw' : 'resend', ...when };
  return { act: 'raise', ...when, order: random.int(0, orders - 1), by_cents: random.pick([500, 5_000]) };
}

const patchOf = (random: Random): Partial<Policy> =>
  random.pick<Partial<Policy>>([
    { confirm_above_cents: random.pick([0, 1_200, 50_000]) },
    { confirm_above_cents: 0 },
    { max_refund_cents: random.pick([800, 2_000, 50_000]) },
    { max_session_refund_cents: random.pick([null, 1_000, 5_000]) },
    { approvers: ADDRESSES.slice(random.int(0, 2)) },
    { approvers: ADDRESSES.slice(2) },
    { max_steps: random.pick([1, 5, 20]) },
    { allowed_tools: ['get_order'] },
    { identical_effects: random.pick(['replay', 'ask']) },
  ]);
