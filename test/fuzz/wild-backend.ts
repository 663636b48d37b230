/** Another system that answers anything: every status, our JSON, other JSON, no JSON, too much, a redirect, or nothing. */
import type { Random } from '../simulation/random.ts';

const STATUSES = [200, 201, 204, 301, 302, 400, 401, 402, 403, 404, 409, 410, 418, 422, 425, 429, 500, 502, 503];

const charge = (random: Random) => ({
  id: 'ch_3QexampleB4Z1',
  amount_captured: random.int(0, 50_000),
  amount_refunded: 0,
  currency: random.pick(['usd', 'brl', 'isk']),
  disputed: random.chance(0.1),
  payment_intent: random.chance(0.5) ? 'pi_3QexampleB4Z1' : null,
  metadata: random.chance(0.9) ? { customer_id: 'CUS-1' } : {},
});

function bodyOf(random: Random): string {
  return random.pick([
    () => JSON.stringify(charge(random)),
    () => JSON.stringify({ id: 'pi_3QexampleB4Z1', metadata: { customer_id: 'CUS-1' }, latest_charge: charge(random) }),
    () =>
      JSON.stringify({
        id: 're_1',
        amount: random.int(0, 9_999),
        currency: 'usd',
        status: random.pick(['succeeded', 'failed', 'odd']),
      }),
    () =>
      JSON.stringify({
        error: { code: random.pick(['charge_already_refunded', 'charge_disputed', 'idempotency_error']) },
      }),
    () => JSON.stringify({ has_more: random.chance(0.5), data: [{ metadata: null }, { metadata: {} }] }),
    () => '[]',
    () => '{"__proto__":{"ok":true}}',
    () => '<html>',
    () => '',
    () => 'x'.repeat(1_048_576),
  ])();
}

export function wildBackend(random: Random): () => Promise<Response> {
  return async () => {
    if (random.chance(0.02)) throw new TypeError('fetch failed');
    const status = random.chance(0.85) ? 200 : random.pick(STATUSES);
    const headers = { 'content-type': 'application/json', location: 'https://elsewhere.test/' };
    return new Response(status === 204 ? null : bodyOf(random), { status, headers });
  };
}
