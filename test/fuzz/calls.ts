/** Valid calls of every tool, as each provider writes them: about what the pool holds, or made from the tool's JSON Schema. */
import type { JsonObject, JsonValue } from '../../src/gate/json.ts';
import type { Random } from '../simulation/random.ts';
import { providerBodies } from '../support/provider-bodies.ts';
import { toolNamed } from '../support/tools.ts';
import { ORDERS, TOOLS } from './pool.ts';
import { valueOf } from './schema-value.ts';

export type Call = { tool: string; arguments: JsonObject };

const EXPRESSIONS = [
  '12 * (3 + 4)',
  '7 // 2 + 0.5',
  '1 / 3',
  '-5 + 10 % 4',
  '((((1))))',
  '1 / 0',
  '999999999 * 999999999',
];
const DOCUMENTS = ['kc-warranty-v2', 'kc-returns-v2', 'no-such-document'];

/** Arguments that name what a target holds. */
const KNOWN: Record<string, (random: Random) => JsonObject> = {
  calculator: (random) => ({ expression: random.pick(EXPRESSIONS) }),
  get_order: (random) => ({ order_id: random.pick(ORDERS).order_id }),
  lookup_document: (random) => ({ doc_id: random.pick(DOCUMENTS) }),
  refund_order(random) {
    const { order_id, currency } = random.pick(ORDERS);
    // Small amounts need nobody, larger ones an approver, the largest are against every policy.
    const amount_cents = random.pick([1, 100, 2_590, 5_000, 5_001, 20_000, 50_000, 50_001]) + random.int(0, 3);
    const reason = random.pick(['damaged', 'not_delivered', 'customer_request']);
    return { order_id, amount_cents, currency, reason };
  },
  search_transactions: (random) => ({
    account_id: random.pick(['ACC-00000001', 'ACC-99999999']),
    start_date: random.pick(['2026-01-01', '2026-11-12', '2030-12-31']),
    ...(random.chance(0.5) ? { transaction_type: random.pick<JsonValue>(['DEBIT', 'CREDIT', 'ALL', null]) } : {}),
    ...(random.chance(0.5) ? { min_amount_cents: random.pick<JsonValue>([0, 1, null]) } : {}),
  }),
};

const argumentsOf = (tool: string, random: Random): JsonObject =>
  KNOWN[tool]?.(random) ?? (valueOf(toolNamed(tool)?.inputSchema ?? {}, random) as JsonObject);

export function validCall(random: Random): Call {
  const tool = random.chance(0.4) ? 'refund_order' : random.pick(TOOLS);
  return { tool, arguments: argumentsOf(tool, random) };
}

/** A provider's response with some calls in it, and items that are none. */
export function providerResponse(random: Random): { provider: string; body: JsonObject } {
  const { provider, argumentsAre, item, body, passedOver } = random.pick(providerBodies);
  const items = Array.from({ length: random.pick([0, 1, 1, 2, 5]) }, (_, index) => {
    const call = validCall(random);
    const args = argumentsAre === 'text' ? JSON.stringify(call.arguments) : call.arguments;
    return item({ id: `call_${index}`, name: call.tool, arguments: args });
  });
  const between = random.chance(0.3) && passedOver.length > 0 ? [random.pick(passedOver)] : [];
  return { provider, body: body([...between, ...items]) };
}
