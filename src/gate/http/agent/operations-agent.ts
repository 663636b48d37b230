/** What hosts and agents may ask: sessions, calls, tools, approvals, MCP. */
import * as z from 'zod';
import { providers } from '../../providers/index.ts';
import { WaitSeconds } from './approval-status.ts';
import { CallBody } from './calls.ts';
import { json, type Operation } from '../shared/operation.ts';
import { ResponseBody } from './provider-calls.ts';
import { OpenBody, SessionId } from './sessions.ts';
import { ToolsQuery } from './tool-definitions.ts';
import { approval, endedSession, jsonRpc, openedSession, outcome, providerAnswer, toolDefinitions } from './wire.ts';

const STANDING = ['RateLimit-Policy', 'RateLimit', 'Toolgate-Audit'] as const;

const sessions: Operation[] = [
  {
    method: 'post',
    path: '/v1/sessions',
    id: 'openSession',
    summary: 'Opens a session, or rejoins it and gives another token',
    description:
      "A session only narrows its caller's policy, and a rejoin only narrows the session's: absent members keep theirs. A rejoin never resets a budget.",
    credential: 'caller',
    body: OpenBody,
    answers: { 201: json('Opened.', openedSession), 200: json('Rejoined.', openedSession) },
    problems: ['policy-widened', 'session-conflict'],
  },
  {
    method: 'delete',
    path: '/v1/sessions/{id}',
    id: 'endSession',
    summary: 'Ends a session: its tokens are no good any more',
    credential: 'caller',
    params: { id: SessionId },
    answers: { 200: json('Ended, now or before.', endedSession) },
    problems: ['not-found'],
  },
];

const calls: Operation[] = [
  {
    method: 'post',
    path: '/v1/calls',
    id: 'call',
    summary: 'Proposes one call; answers with one outcome',
    description:
      'Every proposed call is HTTP 200, refused ones too. With `Accept: text/plain` the answer is the text for the model.',
    credential: 'agent',
    body: CallBody,
    answers: {
      200: {
        description: 'The outcome. The headers are absent where the session could not be reached.',
        content: { 'application/json': outcome, 'text/plain': null },
        headers: STANDING,
      },
    },
    problems: ['session-exhausted'],
  },
  {
    method: 'post',
    path: '/v1/calls/{provider}',
    id: 'callFromProvider',
    summary: "Takes a provider's response; answers with the tool results of its next request",
    description:
      'The calls in it run one after another. Items that are no function call are passed over. At most 128 calls and 1 MiB. Under one `Idempotency-Key` the same body again only reports.',
    credential: 'agent',
    params: { provider: z.enum(providers.map(({ name }) => name)) },
    body: ResponseBody,
    answers: {
      200: json('Results and outcomes. The headers are those of the last call.', providerAnswer, STANDING),
    },
    problems: ['not-found', 'session-exhausted'],
  },
];

const rest: Operation[] = [
  {
    method: 'get',
    path: '/v1/tools',
    id: 'listTools',
    summary: 'The definitions of the tools that the session may use',
    description:
      "Without `provider`: name, description and the arguments' JSON Schema as `parameters`. With it: the `tools` of that provider's request, byte-identical from call to call.",
    credential: 'agent',
    query: ToolsQuery.shape,
    answers: { 200: json('The definitions.', toolDefinitions) },
    problems: ['invalid-body'],
  },
  {
    method: 'get',
    path: '/v1/approvals/{id}',
    id: 'getApproval',
    summary: 'How an approval of this session stands',
    description: 'With `Accept: text/plain` the answer is the text for the model.',
    credential: 'agent',
    params: { id: z.string() },
    query: { wait: WaitSeconds },
    answers: {
      200: { description: 'The approval.', content: { 'application/json': approval, 'text/plain': null } },
    },
    problems: ['invalid-body', 'not-found'],
  },
  {
    method: 'post',
    path: '/mcp',
    id: 'mcp',
    summary: 'The same tools over the Model Context Protocol: one JSON-RPC message, stateless',
    credential: 'agent',
    body: jsonRpc,
    answers: {
      200: json('The answer to a request, errors of the protocol included.', jsonRpc),
      202: { description: 'A notification was taken.' },
      400: json('No message of the protocol, or of a version of it that is not spoken here.', jsonRpc),
    },
    problems: ['forbidden', 'session-exhausted'],
  },
];

export const agentOperations: readonly Operation[] = [...sessions, ...calls, ...rest];
