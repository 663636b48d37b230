/**
 * The one tool that the gate brings itself: an agent asks with it what became of an action that waits for a person. Models
 * that only repeat the call would use up their budget and never learn of the decision. The session answers it (session/core.ts):
 * it takes no step, leaves no row and decides nothing.
 */
import * as z from 'zod';
import { defineTool, type Tool } from './define-tool.ts';

export const GET_APPROVAL = 'get_approval';

const definition = defineTool({
  name: GET_APPROVAL,
  description:
    'Tells what became of an action that waits for a person: whether it was approved and done, rejected, or expired. Use it with the approval id of a CONFIRMATION_REQUIRED answer instead of repeating the call. It waits up to wait_seconds for a decision.',
  effect: 'none',
  risky: false,
  input: z.strictObject({
    approval_id: z
      .string()
      .regex(/^apr_[0-9a-f]{32}$/)
      .describe('The id in "approval" of the answer, such as apr_0123456789abcdef0123456789abcdef.'),
    wait_seconds: z.int().min(0).max(25).default(0).describe('How long to wait for a decision, 0 to 25 seconds.'),
  }),
  output: z.strictObject({}),
  codes: {
    APPROVAL_NOT_FOUND: () => 'This session has no approval of this id. Use the id of the answer that asked for one.',
  },
  run: () => Promise.reject(new Error(`${GET_APPROVAL} is answered by the session`)),
});

/** For a deployment's tools: it answers with the data of whichever risky tool the approval is for. */
export const getApprovalFor = (tools: readonly Tool[]): Tool => ({
  ...definition,
  outputSchema: {
    type: 'object',
    anyOf: tools.filter(({ risky }) => risky).map(({ outputSchema }) => outputSchema),
  },
});

export type ApprovalQuestion = { approval_id: string; wait_seconds: number };
