/** Tools whose effects are refunds at a simulated backend, one for each class of recipe, and the deployment that has them. */
import * as z from 'zod';
import { createToolgate, defineBackend, defineTool, formatMoney } from '../../src/gate/index.ts';
import { registryOf } from '../../src/gate/tool/registry.ts';
import { tools } from '../../src/tools/index.ts';

/** What an API of this class promises. */
export const CLASSES = {
  refund_keyed: { key: true, lookup: true, refusals: 'not_kept' },
  refund_keyed_kept: { key: true, lookup: false, refusals: 'kept' },
  refund_keyed_only: { key: true, lookup: false, refusals: 'not_kept' },
  refund_found: { key: false, lookup: true, refusals: 'not_kept' },
  refund_neither: { key: false, lookup: false, refusals: 'not_kept' },
} as const;
export type Elsewhere = keyof typeof CLASSES;
export const ELSEWHERE = Object.keys(CLASSES) as Elsewhere[];
export const isElsewhere = (tool: string): tool is Elsewhere => Object.hasOwn(CLASSES, tool);

export const QUIET_MS = 900_000;
export const LAG_MS = 60_000;
export const KEEP_MS = 24 * 60 * 60_000;

const order = z.object({ customer_id: z.string(), total: z.int(), refunded: z.int(), currency: z.string() });
const effect = z.object({ id: z.string(), reference: z.string(), order_id: z.string(), amount: z.int() });

const toolOf = (name: Elsewhere) => {
  const { key, lookup, refusals } = CLASSES[name];
  return defineTool({
    name,
    description: 'Refunds an order at a simulated backend.',
    risky: true,
    timeoutMs: 2_000,
    input: z.strictObject({
      order_id: z.string().regex(/^PAY-\d{4}$/, 'must look like PAY-1001'),
      amount_cents: z.int().positive(),
      currency: z.enum(['BRL', 'USD']),
      reason: z.enum(['damaged', 'not_delivered', 'customer_request']),
    }),
    output: z.strictObject({ refunded_cents: z.int().positive() }),
    codes: {
      ORDER_NOT_FOUND: () => 'No such order.',
      CURRENCY_MISMATCH: () => 'Another currency.',
      AMOUNT_EXCEEDS_REFUNDABLE: () => 'Less is left.',
    },
    async check({ order_id, amount_cents, currency }, { api }, { customer_id }) {
      const { json } = await api.get(`/orders/${order_id}`);
      const { data: seen } = order.safeParse(json);
      if (seen === undefined || (customer_id !== null && seen.customer_id !== customer_id))
        return { ok: false, code: 'ORDER_NOT_FOUND', facts: {} };
      if (seen.currency !== currency) return { ok: false, code: 'CURRENCY_MISMATCH', facts: {}, seen };
      return amount_cents > seen.total - seen.refunded
        ? { ok: false, code: 'AMOUNT_EXCEEDS_REFUNDABLE', facts: {}, seen }
        : { ok: true, seen };
    },
    facts: ({ refunded, currency }) => [
      { label: 'Refunded so far', value: formatMoney({ amount_cents: refunded, currency }) },
    ],
    effect: {
      backend: defineBackend({
        name,
        version: '1',
        env: { origin: 'SIM_ORIGIN', account: 'SIM_ACCOUNT', secret: 'SIM_SECRET' },
        authorize: () => ({}),
        key: key ? { header: 'Idempotency-Key', max: 64 } : null,
        keepMs: KEEP_MS,
        refusals,
        quietMs: QUIET_MS,
      }),
      money: ({ amount_cents, currency }) => ({ amount_cents, currency }),
      subject: ({ order_id }) => order_id,
      ceiling: { cents: ({ total }) => total, code: 'AMOUNT_EXCEEDS_REFUNDABLE' },
      request: ({ order_id, amount_cents, currency }, made) => ({
        method: 'POST',
        path: `/refunds/${name}`,
        body: { json: { order_id, amount: amount_cents, currency, reference: made.key } },
      }),
      read(item) {
        const { data } = effect.safeParse(item);
        return data === undefined ? 'unknown' : { applied: { id: data.id, data: { refunded_cents: data.amount } } };
      },
      refusal: ({ status }) => (status === 422 ? { refused: 'AMOUNT_EXCEEDS_REFUNDABLE' } : 'unknown'),
      lookup: lookup
        ? {
            lagMs: LAG_MS,
            path: (_input, made) => `/refunds/${name}?reference=${made.key}`,
            find: ({ found }) => (found === null ? 'absent' : (found as Record<string, unknown>)),
          }
        : null,
    },
  });
};

const all = [...tools, ...ELSEWHERE.map(toolOf)];
export const registry = registryOf(all);
/** The Worker that simulated hosts and operators reach. */
export const worker = createToolgate({ tools: all }).handler;
