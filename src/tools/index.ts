/** The registry. ADD A TOOL = one file and one line in `allTools`. */
import { calculator } from './calculator/calculator.ts';
import { countDocuments } from './help-centre/count-documents.ts';
import type { Tool } from '../gate/tool/define-tool.ts';
import { getOrder } from './orders/get-order.ts';
import { lookupDocument } from './help-centre/lookup-document.ts';
import { refundOrder } from './orders/refund-order.ts';
import { searchTransactions } from './accounts/search-transactions.ts';

/** Sorted by name, as definitions are shown. Two tools of one name are refused when the module loads. */
export const allTools: readonly Tool[] = [
  calculator, //
  countDocuments,
  getOrder,
  lookupDocument,
  refundOrder,
  searchTransactions,
].toSorted((a, b) => (a.name < b.name ? -1 : 1));

/** For exact look-up of untrusted names: in a `Map`, `constructor` is no tool. */
export const registry = registryOf(allTools);

export const toolNamed = (name: string): Tool | undefined => registry.get(name);

/** Refuses two tools of one name: which of them judged a call would depend on the order of imports. */
export function registryOf(tools: readonly Tool[]): ReadonlyMap<string, Tool> {
  const registry = new Map<string, Tool>();
  for (const tool of tools) {
    if (registry.has(tool.name)) throw new Error(`two tools are named ${tool.name}`);
    registry.set(tool.name, tool);
  }
  return registry;
}
