/**
 * The text of `/docs` and of the problem pages, in Markdown. It is made of the OpenAPI document and of the tables that the
 * gate itself goes by.
 */
import type { JsonObject } from '../../json.ts';
import { observationText } from '../../observation/text.ts';
import { nextOf } from '../../outcome.ts';
import { providers } from '../../providers/index.ts';
import type { Tool } from '../../tool/define-tool.ts';
import type { Registry } from '../../tool/registry.ts';
import { PROBLEM_TYPES, type ProblemType } from '../shared/problem.ts';
import { GATE_CODES, gateCodes, NEXT_STEPS, STAGES } from './codes.ts';
import { exampleCall, exampleOutcomes, resultsOf } from './example.ts';
import { schemaText } from './schema-text.ts';

/** What the page reads of the OpenAPI document. */
type Operation = {
  operationId: string;
  summary: string;
  description?: string;
  security: Record<string, []>[];
  parameters?: { name: string; required?: boolean; description?: string; schema: JsonObject }[];
  requestBody?: { content: Record<string, { schema: JsonObject }> };
  responses: Record<string, Reply>;
};
type Reply = {
  $ref?: string;
  description: string;
  content?: Record<string, { schema?: JsonObject; examples?: JsonObject }>;
};
type Components = {
  schemas: JsonObject;
  responses: Record<string, Reply>;
  securitySchemes: Record<string, { description: string }>;
};
type Document = { paths: Record<string, Record<string, Operation>>; components: Components };

const READERS = {
  caller: 'Host application',
  agent: 'Agent',
  approver: 'Approver',
  operator: 'Operator',
  '': 'Everybody',
};
const PROBLEM = 'application/problem+json';

const block = (text: string): string => `\`\`\`\n${text}\n\`\`\``;
const linesOf = (items: string[]): string => items.map((item) => `- ${item}`).join('\n');
/** A text that is no Markdown. */
const plain = (text: string): string => text.replaceAll(/[!-/:-@[-`{-~]/g, String.raw`\$&`);

export function docsText(publicUrl: string, document: JsonObject, registry: Registry): string {
  const { paths, components } = document as unknown as Document;
  const outcomes = exampleOutcomes(registry);
  const call = JSON.stringify(exampleCall(registry)).replaceAll("'", String.raw`'\''`);
  const shapeOf = (name: string): string =>
    block(schemaText(components.schemas[name] as JsonObject, components.schemas));
  return `# The model proposes, code decides

Toolgate takes each tool call of a language model as an untrusted request, judges it in ${STAGES.length} stages
(${STAGES.join(', ')}) and answers with one structured outcome. It moves money at most once per intent and asks a person
where the tool is risky.

[Start](#start) · [Outcomes](#outcomes) · [Codes](#codes) · [Routes](#routes) · [Problems](#problems) · [Tools](#tools) · [Providers](#providers)

## Start

The operator makes a caller and hands its API key to the host application. The host opens a session for each conversation
and gives the agent that session's token.

${block(`# the host, with its API key
curl ${publicUrl}/v1/sessions -H "Authorization: Bearer $API_KEY" --json "{\\"customer_id\\":\\"$CUSTOMER_ID\\"}"
# the agent, with the session's token
curl ${publicUrl}/v1/tools -H "Authorization: Bearer $TOKEN"
curl ${publicUrl}/v1/calls -H "Authorization: Bearer $TOKEN" --json '${call}'`)}

Or let Toolgate speak your provider's language: post the model's response to \`/v1/calls/{provider}\` and append the
\`results\` to the next request.

## Outcomes

Every proposed call is HTTP 200 with an outcome. It takes one step of the session's budget, also if it is refused.

${block(outcomes.map((outcome) => JSON.stringify(outcome)).join('\n'))}

### OkOutcome

${shapeOf('OkOutcome')}

### RefusedOutcome

${shapeOf('RefusedOutcome')}

### What the model reads

Provider results, MCP and \`Accept: text/plain\` carry the outcome in a frame that nothing inside can close. Strings that
others wrote are cleaned.

${block(outcomes.map(observationText).join('\n'))}

## Codes

\`next\` says what to do about a refusal.

${linesOf(Object.entries(NEXT_STEPS).map(([next, { model, host }]) => `\`${next}\`. For the model: ${model} For the host: ${host}`))}

The gate's codes are in the order of the stages. A call that fails two stages gets the earlier code, because nothing runs
behind a failed stage.

${linesOf(gateCodes.map(codeText))}

A tool's own codes are described with the tool. Their \`next\` is \`${nextOf('TOOL_CODE')}\`, or \`stop_and_tell_user\` where no
other call can help.

## Routes

${Object.entries(READERS)
  .map(([reader, title]) => readerText(reader, title, paths, components))
  .join('\n\n')}

## Problems

${problemList()}

## Tools

${registry.tools.map(toolText).join('\n\n')}

## Providers

What \`POST /v1/calls/{provider}\` and \`GET /v1/tools?provider=\` take for each provider, with a good and a refused result.

${providers.map((each) => `\`${each.name}\` takes \`${each.takes}\`.\n\n${block(resultsOf(each, outcomes))}`).join('\n\n')}
`;
}

function codeText(code: (typeof gateCodes)[number]): string {
  const { stages, meaning } = GATE_CODES[code];
  const where = stages.map((stage) => `stage ${stage}, ${STAGES[stage] ?? ''}`).join('; ') || 'an approval, later';
  return `\`${code}\` (${where}; \`${nextOf(code)}\`): ${meaning}`;
}

function readerText(reader: string, title: string, paths: Document['paths'], components: Components): string {
  const routes = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, { security }]) => (Object.keys(security[0] ?? {})[0] ?? '') === reader)
      .map(([method, operation]) => operationText(`${method.toUpperCase()} ${path}`, operation, components)),
  );
  const credential = components.securitySchemes[reader]?.description ?? 'No credential.';
  return [`### ${title}`, credential, ...routes].join('\n\n');
}

function operationText(route: string, operation: Operation, { schemas, responses }: Components): string {
  const { operationId, summary, description = '', parameters = [], requestBody } = operation;
  const answers = Object.entries(operation.responses).map(([status, response]): [string, Reply] => [
    status,
    responses[response.$ref?.replace(/^.*\//, '') ?? ''] ?? response,
  ]);
  const inUrl = parameters.map(({ name, required, description = '', schema }) => {
    const member = `${name}${required === true ? '' : '?'}: ${schemaText(schema, schemas)}`;
    return `\`${member}\` ${description}`;
  });
  const problems = answers.flatMap(([status, { content }]) =>
    Object.keys(content?.[PROBLEM]?.examples ?? {}).map((slug) => `${status} [${slug}](/docs/problems/${slug})`),
  );
  return [
    `#### ${operationId}`,
    `\`${route}\`: ${summary}. ${description}`,
    ...(inUrl.length === 0 ? [] : ['Parameters:', linesOf(inUrl)]),
    ...Object.entries(requestBody?.content ?? {}).flatMap(([type, { schema }]) => [
      `Body, \`${type}\`:`,
      block(schemaText(schema, schemas)),
    ]),
    ...answers
      .filter(([, { content }]) => content === undefined || Object.keys(content)[0] !== PROBLEM)
      .flatMap(([status, { description, content }]) => {
        const schema = content?.['application/json']?.schema;
        return [
          `Answers ${status}: ${description}`,
          ...(schema === undefined ? [] : [block(schemaText(schema, schemas))]),
        ];
      }),
    ...(problems.length === 0 ? [] : [`Refuses with ${problems.join(', ')}.`]),
  ].join('\n\n');
}

const toolText = (tool: Tool): string =>
  [
    `### Tool \`${tool.name}\``,
    `${tool.effect === 'none' ? 'Only reads.' : 'Has an effect, once per intent.'}${tool.risky ? ' A person may have to approve it.' : ''}`,
    plain(tool.description),
    'Arguments:',
    block(schemaText(tool.inputSchema, {})),
    ...(tool.example === null ? [] : ['Example:', block(JSON.stringify(tool.example))]),
    'Answer:',
    block(schemaText(tool.outputSchema, {})),
    linesOf(tool.codes.map((code) => `\`${code}\`: ${plain(tool.refusal(code, {}).message)}`)),
  ].join('\n\n');

const problemList =
  (): string => `Requests that are no proposed call are refused with \`${PROBLEM}\` (RFC 9457). They take no step. The \`type\` is one of these:

${linesOf(Object.entries(PROBLEM_TYPES).map(([slug, { status, title }]) => `[${slug}](/docs/problems/${slug}), ${status}: ${title}`))}`;

export const problemListText = (): string => `# Problem types\n\n${problemList()}`;

/** The page behind a problem's `type`; null if no problem has this name. */
export function problemText(slug: string): string | null {
  const type: ProblemType | undefined = new Map<string, ProblemType>(Object.entries(PROBLEM_TYPES)).get(slug);
  if (type === undefined) return null;
  return `# ${type.title}\n\n\`${slug}\`, HTTP ${type.status}\n\n${plain(type.explanation)}\n\n[All problem types](/docs/problems)`;
}
