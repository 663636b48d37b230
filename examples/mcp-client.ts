import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

/** Lists the session's tools and proposes a refund. The same call id again asks what became of this call. */
export async function refundOverMcp(url: string, token: string, call_id: string) {
  const client = new Client({ name: 'shop-agent', version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } });
  const requestInit = { headers: { Authorization: `Bearer ${token}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit }));

  const { tools } = await client.listTools();
  const result = await client.callTool({
    name: 'refund_order',
    arguments: { order_id: 'ORD-1001', amount_cents: 2590, currency: 'BRL', reason: 'damaged' },
    _meta: { 'toolgate/call_id': call_id },
  });
  await client.close();
  return { tools, result };
}
