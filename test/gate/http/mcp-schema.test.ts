import { AjvJsonSchemaValidator } from '@modelcontextprotocol/client/validators/ajv';
import { describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../../../src/gate/json.ts';
import { toOutcome, type Outcome, type Refusal } from '../../../src/gate/outcome.ts';
import { membersOf, stringOr } from '../../../src/gate/providers/provider.ts';
import type { CallAnswer, CallRequest } from '../../../src/gate/session/rpc.ts';
import { allTools } from '../../support/tools.ts';
import { doneAt } from '../../support/agent-app.ts';
import { describeCorpus } from '../../support/corpora.ts';
import { mcpApp } from '../../support/mcp-app.ts';

type Schema = Parameters<AjvJsonSchemaValidator['getValidator']>[0];

const parsed = (text: string): JsonObject => JSON.parse(text) as JsonObject;

const refusing =
  (refusal: Refusal) =>
  (step: number, call: CallRequest): CallAnswer => ({
    ...(doneAt(step, call) as Extract<CallAnswer, { outcome: Outcome }>),
    outcome: toOutcome({ call_id: call.call_id, tool: call.tool, step }, { ok: false, refusal }),
  });

/** The JSON-RPC messages of an answer, be it one body or a stream that ended. */
async function messagesIn(response: Response): Promise<JsonObject[]> {
  const text = await response.text();
  const type = response.headers.get('content-type');
  if (type !== 'text/event-stream') return text === '' ? [] : [parsed(text)];
  return text.split('\n').flatMap((line) => (line.startsWith('data: ') ? [parsed(line.slice('data: '.length))] : []));
}

describeCorpus('mcp', ({ text, names, namesIn }) => {
  const { $defs } = parsed(text('schema.json')) as { $defs: JsonObject };
  const misfit = (definition: string, value: JsonValue): string | undefined =>
    new AjvJsonSchemaValidator().getValidator({ $ref: `#/$defs/${definition}`, $defs } as Schema)(value).errorMessage;

  const example = (file: string): JsonObject => parsed(text(`examples/${file}`));
  /** As its sender would send it, with the headers that repeat it. */
  const send = async (body: JsonObject, play = doneAt) => {
    const { post } = await mcpApp(
      play,
      allTools.map(({ name }) => name),
    );
    const { name, uri } = membersOf(body['params']);
    const headers = {
      'MCP-Protocol-Version': '2026-07-28',
      'Mcp-Method': stringOr(body['method'], ''),
      'Mcp-Name': stringOr(name, stringOr(uri, '')),
    };
    return post('/mcp', body, undefined, headers);
  };

  it('is the schema of the revision that is spoken, and says what does not fit', () => {
    expect(names).toContain('schema.json');
    expect(misfit('CallToolResult', { resultType: 'complete', content: [] })).toBeUndefined();
    expect(misfit('CallToolResult', { resultType: 'complete' })).toContain('content');
  });

  it.each([
    ['DiscoverResultResponse', 'DiscoverRequest/server-discover-request.json'],
    ['ListToolsResultResponse', 'ListToolsRequest/list-tools-request.json'],
    ['CallToolResultResponse', 'CallToolRequest/call-tool-request.json'],
  ])('takes the answer as a %s', async (definition, file) => {
    const request = example(file);
    const [answer = null] = await messagesIn(await send(request));
    expect(misfit(definition, answer)).toBeUndefined();
    expect(answer).toMatchObject({ id: request['id'] });
  });

  it.each<Refusal>([
    { code: 'INVALID_ARGUMENTS', problems: [{ field: 'order_id', issue: 'missing', hint: 'Order id' }] },
    {
      code: 'CONFIRMATION_REQUIRED',
      approval: { id: 'apr_1', status: 'pending', expires_at: '2027-01-01T00:00:00.000Z', arguments: { a: 1 } },
    },
    { code: 'UPSTREAM_UNAVAILABLE', sent: true },
  ])('takes $code as a result', async (refusal) => {
    const response = await send(example('CallToolRequest/call-tool-request.json'), refusing(refusal));
    const [answer = null] = await messagesIn(response);
    expect(misfit('CallToolResultResponse', answer)).toBeUndefined();
    expect(answer).toMatchObject({ result: { isError: true } });
  });

  it('takes an unknown tool as invalid parameters', async () => {
    const play = refusing({ code: 'UNKNOWN_TOOL', available: ['get_order'] });
    const [answer] = await messagesIn(await send(example('CallToolRequest/call-tool-request.json'), play));
    expect(misfit('JSONRPCErrorResponse', answer ?? null)).toBeUndefined();
    expect(misfit('InvalidParamsError', answer?.['error'] ?? null)).toBeUndefined();
  });

  it.each([
    ...['CompleteRequest/completion-request.json', 'GetPromptRequest/get-prompt-request.json'],
    ...['ListPromptsRequest/list-prompts-request.json', 'ListResourcesRequest/list-resources-request.json'],
    ...['ReadResourceRequest/read-resource-request.json'],
    'ListResourceTemplatesRequest/list-resource-templates-request.json',
  ])('takes the answer to %s as a method not found', async (file) => {
    const response = await send(example(file));
    expect(response.status).toBe(404);
    const [answer] = await messagesIn(response);
    expect(misfit('JSONRPCErrorResponse', answer ?? null)).toBeUndefined();
    expect(misfit('MethodNotFoundError', answer?.['error'] ?? null)).toBeUndefined();
  });

  it('is told by a subscription that there is nothing to hear', async () => {
    const [acknowledged = null, result = null] = await messagesIn(
      await send(example('SubscriptionsListenRequest/listen-for-list-changes.json')),
    );
    expect(misfit('SubscriptionsAcknowledgedNotification', acknowledged)).toBeUndefined();
    expect(acknowledged).toMatchObject({ params: { notifications: {} } });
    expect(misfit('SubscriptionsListenResultResponse', result)).toBeUndefined();
  });

  it('takes headers that say otherwise, and another version, as what they are', async () => {
    const { request } = await mcpApp();
    const [mismatch = null] = await messagesIn(await request('tools/list', {}, { headers: { 'Mcp-Method': 'x' } }));
    expect(misfit('HeaderMismatchError', mismatch)).toBeUndefined();
    const version = '1900-01-01';
    const _meta = { 'io.modelcontextprotocol/protocolVersion': version };
    const asked = await request('tools/list', { _meta }, { headers: { 'MCP-Protocol-Version': version } });
    const [unsupported = null] = await messagesIn(asked);
    expect(misfit('UnsupportedProtocolVersionError', unsupported)).toBeUndefined();
  });

  describe('whose examples are sent, messages or not', () => {
    const files = namesIn('examples').flatMap(namesIn);

    it('answers each with a message of the protocol, or none', async () => {
      expect(files.length).toBeGreaterThan(100);
      for (const file of files) {
        const response = await send(parsed(text(file)));
        expect([200, 202, 400, 404], file).toContain(response.status);
        for (const answer of await messagesIn(response)) expect(misfit('JSONRPCMessage', answer), file).toBeUndefined();
      }
    });
  });
});
