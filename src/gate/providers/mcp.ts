/** Definitions as MCP's `tools/list` shows them. The calls of MCP clients come over `/mcp`, not through a provider route. */
import type { DefinitionFormat } from './provider.ts';

export const mcp: DefinitionFormat = {
  name: 'mcp',
  tools: (definitions) => definitions.map(({ name, description, inputSchema }) => ({ name, description, inputSchema })),
};
