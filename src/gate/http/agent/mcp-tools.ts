/** The registry's tools as MCP's `tools/list` shows them. */
import type { JsonObject } from '../../json.ts';
import { mcp } from '../../providers/index.ts';
import type { Tool } from '../../tool/define-tool.ts';
import type { Registry } from '../../tool/registry.ts';

/** In the registry's order, which is that of the names: equal bytes from call to call keep a prompt cache. */
export const mcpTools = (registry: Registry, allowed: readonly string[]): JsonObject[] =>
  registry.tools.filter(({ name }) => allowed.includes(name)).flatMap(shownTool);

const shownTool = (tool: Tool): JsonObject[] =>
  mcp.tools([tool]).map((definition) => ({
    ...definition,
    outputSchema: tool.outputSchema,
    annotations: annotationsOf(tool),
  }));

/**
 * Hints for a client's own caution; nothing here depends on whether it heeds them. An effect moves something that no other
 * tool moves back, and asked for again with the same arguments it is told, or put before a person, and not repeated.
 */
const annotationsOf = ({ effect }: Tool): JsonObject =>
  effect === 'none' ? { readOnlyHint: true } : { readOnlyHint: false, destructiveHint: true, idempotentHint: true };
