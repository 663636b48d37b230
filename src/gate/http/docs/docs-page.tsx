/** `/docs`: everything a person needs to use the gate, on one page. */
import type { JsonObject } from '../../json.ts';
import type { Registry } from '../../tool/registry.ts';
import { EXAMPLES, Codes, Observations, Providers, Tools } from './docs-terms.tsx';
import { at, Routes } from './docs-routes.tsx';
import { Members } from './docs-schema.tsx';
import { ProblemTable } from './docs-problems.tsx';
import { STAGES } from '../shared/codes.ts';

const SECTIONS = {
  start: 'Start',
  outcomes: 'Outcomes',
  codes: 'Codes',
  routes: 'Routes',
  problems: 'Problems',
  tools: 'Tools',
  providers: 'Providers',
} as const;

const Heading = ({ of }: { of: keyof typeof SECTIONS }) => <h2 id={of}>{SECTIONS[of]}</h2>;

export const Docs = ({
  document,
  publicUrl,
  registry,
}: {
  document: JsonObject;
  publicUrl: string;
  registry: Registry;
}) => {
  const schemas = at(document, 'components', 'schemas');
  return (
    <>
      <h1>The model proposes, code decides</h1>
      <p class="lead">
        Toolgate takes each tool call of a language model as an untrusted request, judges it in {STAGES.length} stages (
        {STAGES.join(', ')}) and answers with one structured outcome. It moves money at most once per intent and asks a
        person where the tool is risky.
      </p>
      <ul class="contents">
        {Object.entries(SECTIONS).map(([id, title]) => (
          <li>
            <a href={`#${id}`}>{title}</a>
          </li>
        ))}
      </ul>

      <Heading of="start" />
      <p>
        The operator makes a caller and hands its API key to the host application. The host opens a session for each
        conversation and gives the agent that session's token.
      </p>
      <pre>
        <code>{quickStart(publicUrl)}</code>
      </pre>
      <p>
        Or let Toolgate speak your provider's language: post the model's response to{' '}
        <code>/v1/calls/&#123;provider&#125;</code> and append the <code>results</code> to the next request.
      </p>

      <Heading of="outcomes" />
      <p>Every proposed call is HTTP 200 with an outcome; it takes one step of the session's budget, good or bad.</p>
      <pre>
        <code>{EXAMPLES.map((outcome) => JSON.stringify(outcome)).join('\n')}</code>
      </pre>
      <h3>
        <code>ok: true</code>
      </h3>
      <Members schema={at(document, 'components', 'schemas', 'OkOutcome')} schemas={schemas} />
      <h3>
        <code>ok: false</code>
      </h3>
      <Members schema={at(document, 'components', 'schemas', 'RefusedOutcome')} schemas={schemas} />
      <h3>What the model reads</h3>
      <p>
        Provider results, MCP and <code>Accept: text/plain</code> carry the outcome in a frame that nothing inside can
        close. Strings that others wrote are cleaned.
      </p>
      <Observations />

      <Heading of="codes" />
      <Codes />

      <Heading of="routes" />
      <Routes document={document} />

      <Heading of="problems" />
      <ProblemTable />

      <Heading of="tools" />
      <Tools registry={registry} schemas={schemas} />

      <Heading of="providers" />
      <p>
        For <code>POST /v1/calls/&#123;provider&#125;</code> and <code>GET /v1/tools?provider=</code>.
      </p>
      <Providers />
    </>
  );
};

const quickStart = (publicUrl: string): string => `# the host, with its API key
curl ${publicUrl}/v1/sessions -H "Authorization: Bearer $API_KEY" --json '{"customer_id":"CUS-1"}'
# the agent, with the session's token
curl ${publicUrl}/v1/tools -H "Authorization: Bearer $TOKEN"
curl ${publicUrl}/v1/calls -H "Authorization: Bearer $TOKEN" --json '{"tool":"get_order","arguments":{"order_id":"ORD-1001"}}'`;
