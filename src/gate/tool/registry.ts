/** The tools of one deployment, as `createToolgate` is given them, and the gate's own. */
import type { Tool } from './define-tool.ts';
import { GET_APPROVAL, getApprovalFor } from './get-approval.ts';

export interface Registry {
  /** Sorted by name, as definitions are shown: equal bytes from call to call keep a provider's prompt cache. */
  readonly tools: readonly Tool[];
  /** Exact look-up of an untrusted name: `constructor` is no tool. */
  get(name: string): Tool | undefined;
}

/**
 * Refuses two tools of one name, because which of them judged a call would depend on the order of imports, and a tool named
 * like the gate's own. `get_approval` is there where a tool may need a person.
 */
export function registryOf(tools: readonly Tool[]): Registry {
  if (tools.some(({ name }) => name === GET_APPROVAL)) throw new Error(`${GET_APPROVAL} is the gate's own tool`);
  const all = tools.some(({ risky }) => risky) ? [...tools, getApprovalFor(tools)] : tools;
  const byName = new Map<string, Tool>();
  for (const tool of all) {
    if (byName.has(tool.name)) throw new Error(`two tools are named ${tool.name}`);
    byName.set(tool.name, tool);
  }
  return {
    tools: all.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    get: (name) => byName.get(name),
  };
}

/** `names` as a session may use them: with `get_approval` beside a tool that may need a person. */
export const withGetApproval = (names: readonly string[], registry: Registry): string[] =>
  names.some((name) => registry.get(name)?.risky === true) ? [...names, GET_APPROVAL].toSorted() : [...names];
