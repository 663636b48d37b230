/** Stage 1: the name is exactly one of the registry's, and this session may use it. */
import type { Refusal } from '../../outcome.ts';
import type { Tool } from '../../tool/define-tool.ts';
import type { ResolvedCall, Step, SteppedCall } from '../calls.ts';
import type { Gate } from '../gate.ts';
import { withGetApproval } from '../../tool/registry.ts';

export function resolve(call: SteppedCall, gate: Gate): Step<ResolvedCall> {
  const named = allowedTool(call.tool, gate);
  return 'code' in named ? { ok: false, refusal: named } : { ok: true, call: { ...call, definition: named } };
}

/** Exact look-up in a `Map`: `constructor`, another case or a look-alike letter name no tool. */
export function allowedTool(
  name: string,
  gate: Gate,
): Tool | Extract<Refusal, { code: 'UNKNOWN_TOOL' | 'TOOL_NOT_ALLOWED' }> {
  const { tools } = gate.scope();
  const definition = gate.tools.get(name);
  if (definition === undefined) return { code: 'UNKNOWN_TOOL', available: withGetApproval(tools, gate.tools) };
  return tools.includes(name) ? definition : { code: 'TOOL_NOT_ALLOWED' };
}
