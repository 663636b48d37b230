/** What MCP clients may ask for: the tools, and calls of them. */
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import type { JsonObject, JsonValue } from '../../json.ts';
import { observationText } from '../../observation/text.ts';
import type { Outcome } from '../../outcome.ts';
import { argumentsAsObject, membersOf, stringOr } from '../../providers/provider.ts';
import { notTaken, type CallsInARow } from './call-sequence.ts';
import { CallId } from './calls.ts';
import type { McpMethods } from './mcp-message.ts';
import type { RefusedCall } from './send-call.ts';

/** Where a host names its call, and where every result says which call it answers. */
const CALL_ID = 'toolgate/call_id';
/** True where items or characters of the data were left out. */
const TRUNCATED = 'toolgate/truncated';

/** The session takes no call of this body, so the body has no answer of the protocol's. Thrown, to pass through the package. */
export class BodyRefused extends Error {
  readonly call: RefusedCall;
  constructor(call: RefusedCall) {
    super(call.refused);
    this.call = call;
  }
}

/** `listed` are the definitions of the tools that the session may use. */
export const toolMethods = (calls: CallsInARow, listed: JsonObject[]): McpMethods =>
  new Map([
    ['tools/list', async (params) => listTools(params, listed)],
    ['tools/call', async (params) => callTool(params, calls)],
  ]);

function listTools({ cursor }: JsonObject, tools: JsonObject[]): JsonObject {
  // There is one page, so no cursor was ever given.
  if (cursor !== undefined) throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'cursor: no such page');
  return { tools };
}

/** A request with any name and arguments is a proposed call, with its step and its row. */
async function callTool(params: JsonObject, calls: CallsInARow): Promise<JsonObject> {
  const call = {
    tool: stringOr(params['name'], ''),
    arguments: argumentsAsObject(params['arguments']),
    ...callIdIn(membersOf(params['_meta'])[CALL_ID]),
  };
  const outcome = await calls.propose(call);
  // The protocol has no status for it: the model must read that it should wait.
  if ('refused' in outcome && outcome.refused === 'too_many_polls')
    return resultOf(notTaken(call, { code: 'TOO_MANY_POLLS' }));
  if ('refused' in outcome) throw new BodyRefused(outcome);
  return resultOf(outcome);
}

/**
 * The JSON-RPC id is not a call id, because clients count it from 1 in every connection. A malformed call id is refused before
 * anything is proposed, because no retry of it could be told from a new call.
 */
function callIdIn(named: JsonValue | undefined): { call_id?: string } {
  if (named === undefined) return {};
  const { data, error } = CallId.safeParse(named);
  if (data !== undefined) return { call_id: data };
  const issue = error?.issues[0]?.message ?? 'is not valid';
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, `_meta["${CALL_ID}"] ${issue}`);
}

/** The protocol's own answer to a tool that is not there, or not for this client. */
const NO_SUCH_TOOL: readonly string[] = ['UNKNOWN_TOOL', 'TOOL_NOT_ALLOWED'];

/** The model reads the text, which is the same everywhere; programs read the data. */
function resultOf(outcome: Outcome): JsonObject {
  const { call_id, code, data, truncated, message = code } = outcome;
  if (NO_SUCH_TOOL.includes(code)) throw new ProtocolError(ProtocolErrorCode.InvalidParams, message, outcome);
  return {
    content: [{ type: 'text', text: observationText(outcome) }],
    ...(data === undefined ? { isError: true } : { structuredContent: data }),
    // Beside the data, which fits its schema and cannot say so itself.
    _meta: { [CALL_ID]: call_id, ...(truncated === true ? { [TRUNCATED]: true } : {}) },
  };
}
