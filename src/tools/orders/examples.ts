/** Calls about the sample order, as the tools declare them and the scripts send them. Scripts load this file without the gate. */
export const lookUp = { tool: 'get_order', arguments: { order_id: 'ORD-1001' } } as const;

export const refund = {
  tool: 'refund_order',
  arguments: { order_id: 'ORD-1001', amount_cents: 2_590, currency: 'BRL', reason: 'damaged' },
} as const;
