/**
 * `/docs`, everything a person needs to use the gate on one page, and a page for each problem. They are made of the OpenAPI
 * document and of the tables that the gate itself goes by.
 */
import type { Child } from 'hono/jsx';
import type { JsonObject } from '../../json.ts';
import { observationText } from '../../observation/text.ts';
import { nextOf } from '../../outcome.ts';
import { providers } from '../../providers/index.ts';
import type { Tool } from '../../tool/define-tool.ts';
import type { Registry } from '../../tool/registry.ts';
import type { HttpContext } from '../shared/context.ts';
import { PROBLEM_TYPES, type ProblemType } from '../shared/problem.ts';
import { GATE_CODES, gateCodes, NEXT_STEPS, STAGES } from './codes.ts';
import { answerPage, Code, Inline, Table } from './docs-layout.tsx';
import { exampleCall, exampleOutcomes, resultsOf } from './example.ts';
import { schemaText } from './schema-text.ts';

const SECTIONS = ['Start', 'Outcomes', 'Codes', 'Routes', 'Problems', 'Tools', 'Providers'] as const;

const Heading = ({ of }: { of: (typeof SECTIONS)[number] }) => <h2 id={of.toLowerCase()}>{of}</h2>;

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
type Document = {
  paths: Record<string, Record<string, Operation>>;
  components: {
    schemas: JsonObject;
    responses: Record<string, Reply>;
    securitySchemes: Record<string, { description: string }>;
  };
};

export function answerDocs(c: HttpContext, document: JsonObject): Promise<Response> {
  const described = document as unknown as Document;
  const registry = c.get('registry');
  const { schemas } = described.components;
  const outcomes = exampleOutcomes(registry);
  return answerPage(
    c,
    'How to use it',
    <>
      <h1>The model proposes, code decides</h1>
      <p class="lead">
        Toolgate takes each tool call of a language model as an untrusted request, judges it in {STAGES.length} stages (
        {STAGES.join(', ')}) and answers with one structured outcome. It moves money at most once per intent and asks a
        person where the tool is risky.
      </p>
      <ul class="contents">
        {SECTIONS.map((title) => (
          <li>
            <a href={`#${title.toLowerCase()}`}>{title}</a>
          </li>
        ))}
      </ul>

      <Heading of="Start" />
      <p>
        The operator makes a caller and hands its API key to the host application. The host opens a session for each
        conversation and gives the agent that session's token.
      </p>
      <Code>{quickStart(c.get('config').publicUrl, registry)}</Code>
      <p>
        Or let Toolgate speak your provider's language: post the model's response to{' '}
        <code>/v1/calls/&#123;provider&#125;</code> and append the <code>results</code> to the next request.
      </p>

      <Heading of="Outcomes" />
      <p>Every proposed call is HTTP 200 with an outcome; it takes one step of the session's budget, good or bad.</p>
      <Code>{outcomes.map((outcome) => JSON.stringify(outcome)).join('\n')}</Code>
      {['OkOutcome', 'RefusedOutcome'].map((name) => (
        <>
          <h3>
            <code>{name}</code>
          </h3>
          <Code>{schemaText(schemas[name] as JsonObject, schemas)}</Code>
        </>
      ))}
      <h3>What the model reads</h3>
      <p>
        Provider results, MCP and <code>Accept: text/plain</code> carry the outcome in a frame that nothing inside can
        close. Strings that others wrote are cleaned.
      </p>
      <Code>{outcomes.map(observationText).join('\n')}</Code>

      <Heading of="Codes" />
      <Codes />

      <Heading of="Routes" />
      <Routes document={described} />

      <Heading of="Problems" />
      <Problems />

      <Heading of="Tools" />
      {registry.tools.map((tool) => (
        <ToolEntry tool={tool} />
      ))}

      <Heading of="Providers" />
      <p>
        For <code>POST /v1/calls/&#123;provider&#125;</code> and <code>GET /v1/tools?provider=</code>: what each takes,
        and a good and a refused result.
      </p>
      <Table
        head={['Provider', 'Takes', 'Results']}
        rows={providers.map((provider) => [
          <code>{provider.name}</code>,
          <code>{provider.takes}</code>,
          <Code>{resultsOf(provider, outcomes)}</Code>,
        ])}
      />
    </>,
  );
}

function quickStart(publicUrl: string, registry: Registry): string {
  const call = JSON.stringify(exampleCall(registry)).replaceAll("'", String.raw`'\''`);
  return `# the host, with its API key
curl ${publicUrl}/v1/sessions -H "Authorization: Bearer $API_KEY" --json "{\\"customer_id\\":\\"$CUSTOMER_ID\\"}"
# the agent, with the session's token
curl ${publicUrl}/v1/tools -H "Authorization: Bearer $TOKEN"
curl ${publicUrl}/v1/calls -H "Authorization: Bearer $TOKEN" --json '${call}'`;
}

const Codes = () => (
  <>
    <Table
      head={['next', 'The model should', 'The host should']}
      rows={Object.entries(NEXT_STEPS).map(([next, { model, host }]) => [<code>{next}</code>, model, host])}
    />
    <h3>The gate's codes</h3>
    <p>
      In the order of the stages: a call that fails two gets the earlier code, and nothing behind a failed stage runs.
    </p>
    <Table
      head={['Code', 'Stage', 'next', 'Meaning']}
      rows={gateCodes.map((code) => [
        <code>{code}</code>,
        GATE_CODES[code].stages.map((stage) => `${stage} ${STAGES[stage] ?? ''}`).join(', ') || 'an approval, later',
        <code>{nextOf(code)}</code>,
        GATE_CODES[code].meaning,
      ])}
    />
    <p>
      A tool's own codes stand with the tool; their <code>next</code> is <code>{nextOf('TOOL_CODE')}</code>, or{' '}
      <code>stop_and_tell_user</code> where no other call can help.
    </p>
  </>
);

const READERS = {
  caller: 'Host application',
  agent: 'Agent',
  approver: 'Approver',
  operator: 'Operator',
  '': 'Anybody',
};

const Routes = ({ document: { paths, components } }: { document: Document }) => {
  const routes = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      route: `${method.toUpperCase()} ${path}`,
      reader: Object.keys(operation.security[0] ?? {})[0] ?? '',
      operation,
    })),
  );
  return (
    <>
      {Object.entries(READERS).map(([reader, title]) => (
        <section>
          <h3>{title}</h3>
          <p class="says">
            <Inline text={components.securitySchemes[reader]?.description ?? 'No credential.'} />
          </p>
          {routes
            .filter((each) => each.reader === reader)
            .map(({ route, operation }) => (
              <Route route={route} operation={operation} components={components} />
            ))}
        </section>
      ))}
    </>
  );
};

type RouteProps = { route: string; operation: Operation; components: Document['components'] };

const Route = ({ route, operation, components: { schemas, responses } }: RouteProps) => {
  const { operationId, summary, description = '', parameters = [], requestBody } = operation;
  const answers = Object.entries(operation.responses).map(([status, response]): [string, Reply] => [
    status,
    responses[response.$ref?.replace(/^.*\//, '') ?? ''] ?? response,
  ]);
  const inUrl = {
    properties: Object.fromEntries(
      parameters.map(({ name, schema, description = null }) => [
        name,
        description === null ? schema : { ...schema, description },
      ]),
    ),
    required: parameters.filter(({ required }) => required === true).map(({ name }) => name),
  };
  return (
    <article class="card entry" id={operationId}>
      <h3>
        <code>{route}</code>
      </h3>
      <p>
        {summary}. <Inline text={description} />
      </p>
      <details>
        <summary>{parameters.length === 0 && requestBody === undefined ? 'Answers' : 'Takes and answers'}</summary>
        {parameters.length === 0 ? null : <Part title="Parameters" text={schemaText(inUrl, schemas)} />}
        {Object.entries(requestBody?.content ?? {}).map(([type, { schema }]) => (
          <Part title={`Body, ${type}`} text={schemaText(schema, schemas)} />
        ))}
        {answers
          .filter(([, { content }]) => content === undefined || Object.keys(content)[0] !== PROBLEM)
          .map(([status, { description, content }]) => {
            const schema = content?.['application/json']?.schema;
            return <Part title={`Answers ${status}: ${description}`} text={schema && schemaText(schema, schemas)} />;
          })}
        <h4>Refuses with</h4>
        <ul class="contents">
          {answers.flatMap(([status, { content }]) =>
            Object.keys(content?.[PROBLEM]?.examples ?? {}).map((slug) => (
              <li>
                {status} <a href={`/docs/problems/${slug}`}>{slug}</a>
              </li>
            )),
          )}
        </ul>
      </details>
    </article>
  );
};

const PROBLEM = 'application/problem+json';

const Part = ({ title, text }: { title: string; text: string | undefined }) => (
  <>
    <h4>{title}</h4>
    {text === undefined ? null : <Code>{text}</Code>}
  </>
);

const ToolEntry = ({ tool }: { tool: Tool }) => (
  <article class="card entry" id={`tool-${tool.name}`}>
    <h3>
      <code>{tool.name}</code>
    </h3>
    <p>
      <span class={tool.effect === 'none' ? 'pill good' : 'pill warn'}>
        {tool.effect === 'none' ? 'only reads' : 'has an effect, once per intent'}
      </span>{' '}
      {tool.risky ? <span class="pill warn">a person may have to approve it</span> : null}
    </p>
    <p>{tool.description}</p>
    <details>
      <summary>Arguments, answer and codes</summary>
      <Part title="Arguments" text={schemaText(tool.inputSchema, {})} />
      {tool.example === null ? null : <Part title="Example" text={JSON.stringify(tool.example)} />}
      <Part title="Answer" text={schemaText(tool.outputSchema, {})} />
      {tool.codes.length === 0 ? null : (
        <>
          <h4>Codes</h4>
          <Table
            head={['Code', 'Message']}
            rows={tool.codes.map((code) => [<code>{code}</code>, tool.refusal(code, {}).message])}
          />
        </>
      )}
    </details>
  </article>
);

const Problems = () => (
  <>
    <p>
      Requests that are no proposed call are refused with <code>application/problem+json</code> (RFC 9457); its{' '}
      <code>type</code> is one of these. They take no step.
    </p>
    <Table
      head={['Type', 'Status', 'Title']}
      rows={Object.entries(PROBLEM_TYPES).map(([slug, { status, title }]): Child[] => [
        <a href={`/docs/problems/${slug}`}>{slug}</a>,
        status,
        title,
      ])}
    />
  </>
);

export const answerProblemList = (c: HttpContext) =>
  answerPage(
    c,
    'Problem types',
    <>
      <h1>Problem types</h1>
      <Problems />
    </>,
  );

/** The page behind a problem's `type`; null where no problem has this name. */
export function answerProblem(c: HttpContext, slug: string): Promise<Response> | null {
  const type: ProblemType | undefined = new Map<string, ProblemType>(Object.entries(PROBLEM_TYPES)).get(slug);
  if (type === undefined) return null;
  return answerPage(
    c,
    slug,
    <>
      <h1>{type.title}</h1>
      <p class="lead">
        <code>{slug}</code>, HTTP {type.status}
      </p>
      <div class="card">
        <p>{type.explanation}</p>
      </div>
      <p>
        <a href="/docs/problems">All problem types</a>
      </p>
    </>,
  );
}
