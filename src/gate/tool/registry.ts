/** The tools of one deployment, as `createToolgate` is given them. */
import type { Tool } from './define-tool.ts';

export interface Registry {
  /** Sorted by name, as definitions are shown: equal bytes from call to call keep a provider's prompt cache. */
  readonly tools: readonly Tool[];
  /** Exact look-up of an untrusted name: `constructor` is no tool. */
  get(name: string): Tool | undefined;
}

/** Refuses two tools of one name: which of them judged a call would depend on the order of imports. */
export function registryOf(tools: readonly Tool[]): Registry {
  const byName = new Map<string, Tool>();
  for (const tool of tools) {
    if (byName.has(tool.name)) throw new Error(`two tools are named ${tool.name}`);
    byName.set(tool.name, tool);
  }
  return {
    tools: tools.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    get: (name) => byName.get(name),
  };
}
