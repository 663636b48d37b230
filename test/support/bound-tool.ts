import type { JsonObject } from '../../src/gate/json.ts';
import type { Accounts, Documents, Orders, ReadPorts } from '../../src/gate/ports.ts';
import type { Ran, Tool } from '../../src/gate/tool/define-tool.ts';

const untouched = (name: string) => (): never => {
  throw new Error(`the tool reached for ${name}`);
};

/** Ports that nobody may touch, but for those given. */
function onlyPorts(ports: Partial<ReadPorts>): ReadPorts {
  const orders: Orders = { find: untouched('orders') };
  const documents: Documents = { find: untouched('documents'), count: untouched('documents') };
  const accounts: Accounts = { transactions: untouched('accounts') };
  return { orders, documents, accounts, ...ports };
}

/** Runs a read tool as stage 8 would, for a session of `customer`. */
export async function readWith(
  tool: Tool,
  args: JsonObject,
  ports: Partial<ReadPorts> = {},
  customer: string | null = 'CUS-1',
): Promise<Ran> {
  const bound = tool.bind(args);
  if (!bound.ok) throw new Error(`the arguments do not fit: ${JSON.stringify(bound.problems)}`);
  return bound.bound.read(onlyPorts(ports), { customer_id: customer, signal: new AbortController().signal });
}

/** The fields whose values a tool's schema refuses. */
export function refusedFields(tool: Tool, args: JsonObject): string[] {
  const bound = tool.bind(args);
  return bound.ok ? [] : bound.problems.map(({ field }) => field);
}
