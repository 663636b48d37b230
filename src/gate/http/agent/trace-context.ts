import * as z from 'zod';

/** The `traceparent` header (W3C Trace Context, "Traceparent Header Field Values"). */
const VERSION_0 = /^00-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}$/;
/** Later versions may add members at the end. */
const LATER = /^(?!00|ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(?:-.*)?$/;

/** As the documents show it. */
export const Traceparent = z
  .string()
  .optional()
  .describe('W3C Trace Context: a valid one gives the audit row its `trace_id`.');

/** The id of the trace that a request belongs to; undefined without a valid header. */
export function traceIdOf(traceparent: string | undefined): string | undefined {
  const [, traceId = '', parentId = ''] = VERSION_0.exec(traceparent ?? '') ?? LATER.exec(traceparent ?? '') ?? [];
  // Zeros alone are invalid.
  return /[^0]/.test(traceId) && /[^0]/.test(parentId) ? traceId : undefined;
}
