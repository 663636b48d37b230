/** JSON-RPC batches: one revision of MCP had them, and its clients may still send them. */
import type { JsonValue } from '../../json.ts';
import { membersOf, stringOr } from '../../providers/provider.ts';

/** The revision after it took batches out and brought the header that names the revision, so its clients send none. */
const BATCH_REVISION = '2025-03-26';

/**
 * The reason why an array is refused as a batch; null if it is accepted. Each message of a batch is then judged by itself
 * (JSON-RPC 2.0, section 6).
 */
export function batchFlaw(client: Headers, batch: readonly JsonValue[]): string | null {
  if ((client.get('MCP-Protocol-Version') ?? BATCH_REVISION) !== BATCH_REVISION)
    return `Only protocol version ${BATCH_REVISION} has batches`;
  if (batch.length === 0) return 'The batch is empty';
  if (batch.some(Array.isArray)) return 'The batch holds a batch';
  if (batch.some((message) => methodOf(message) === 'initialize')) return 'The batch holds "initialize"';
  return null;
}

/** Empty where the message names none. */
export const methodOf = (message: JsonValue): string => stringOr(membersOf(message)['method'], '');
