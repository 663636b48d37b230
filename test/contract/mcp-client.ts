/** The protocol's official client, connected to a Worker as the agent of a session. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

/** The first names itself in every request; the others shake hands once, and each demands nothing but its own version. */
export const MCP_VERSIONS = ['2026-07-28', '2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'] as const;
export type McpVersion = (typeof MCP_VERSIONS)[number];

export async function connectMcp(url: string, token: string, version: McpVersion): Promise<Client> {
  const speaking =
    version === '2026-07-28'
      ? { versionNegotiation: { mode: { pin: version } } }
      : { supportedProtocolVersions: [version] };
  const client = new Client({ name: 'toolgate-test', version: '1.0.0' }, speaking);
  const requestInit = { headers: { Authorization: `Bearer ${token}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit }));
  return client;
}
