/** The routes of `/docs`, grouped by who may ask: drawn from the same document that `/openapi.json` serves. */
import type { JsonObject } from '../../json.ts';
import { Members } from './docs-schema.tsx';
import { CREDENTIALS, problemsOf, type Credential, type Operation } from '../shared/operation.ts';
import { operations } from './operations.ts';
import { PROBLEM_TYPES } from '../shared/problem.ts';

const GROUPS: readonly { credential: Credential | null; title: string }[] = [
  { credential: 'caller', title: 'Host application' },
  { credential: 'agent', title: 'Agent' },
  { credential: 'approver', title: 'Approver' },
  { credential: 'operator', title: 'Operator' },
  { credential: null, title: 'Anybody' },
];

export const Routes = ({ document }: { document: JsonObject }) => (
  <>
    {GROUPS.map(({ credential, title }) => (
      <section>
        <h3>{title}</h3>
        <p class="says">{credential === null ? 'No credential.' : <Inline text={CREDENTIALS[credential]} />}</p>
        {operations
          .filter((operation) => operation.credential === credential)
          .map((operation) => (
            <Route operation={operation} document={document} />
          ))}
      </section>
    ))}
  </>
);

type Described = {
  parameters?: { name: string; in: string; description?: string; schema: JsonObject }[];
  requestBody?: { content: Record<string, { schema: JsonObject }> };
  responses: Record<string, { description: string; content?: Record<string, { schema?: JsonObject }> }>;
};

const Route = ({ operation, document }: { operation: Operation; document: JsonObject }) => {
  const { method, path, id, summary, description } = operation;
  const described = at(document, 'paths', path, method) as unknown as Described;
  const schemas = at(document, 'components', 'schemas');
  const bodies = Object.entries(described.requestBody?.content ?? {});
  return (
    <article class="card entry" id={id}>
      <h3>
        <code>
          <span class="method">{method.toUpperCase()}</span> {path}
        </code>
      </h3>
      <p>{summary}.</p>
      {description === undefined ? null : (
        <p class="small">
          <Inline text={description} />
        </p>
      )}
      <details>
        <summary>{bodies.length + (described.parameters?.length ?? 0) === 0 ? 'Answers' : 'Takes and answers'}</summary>
        <Parameters parameters={described.parameters ?? []} />
        {bodies.map(([type, { schema }]) => (
          <>
            <h4>Body, {type}</h4>
            <Members schema={schema} schemas={schemas} />
          </>
        ))}
        <Answers operation={operation} responses={described.responses} schemas={schemas} />
        <Refusals operation={operation} />
      </details>
    </article>
  );
};

const Parameters = ({ parameters }: { parameters: NonNullable<Described['parameters']> }) => {
  if (parameters.length === 0) return null;
  const properties = Object.fromEntries(
    parameters.map(({ name, description, schema }) => [
      name,
      description === undefined ? schema : { ...schema, description },
    ]),
  );
  const required = parameters.filter(({ in: place }) => place === 'path').map(({ name }) => name);
  return (
    <>
      <h4>In the URL</h4>
      <Members schema={{ properties, required }} schemas={{}} />
    </>
  );
};

type AnswersProps = { operation: Operation; responses: Described['responses']; schemas: JsonObject };

const Answers = ({ operation, responses, schemas }: AnswersProps) => {
  const shown = new Set<string>();
  return (
    <>
      {Object.keys(operation.answers).map((status) => {
        const { description, content } = responses[status] ?? { description: '' };
        const schema = content?.['application/json']?.schema;
        const identity = JSON.stringify(schema);
        const isNew = schema !== undefined && !shown.has(identity);
        shown.add(identity);
        return (
          <>
            <h4>Answers {status}</h4>
            <p>{description}</p>
            {isNew ? <AnswerBody schema={schema} schemas={schemas} /> : null}
          </>
        );
      })}
    </>
  );
};

const AnswerBody = ({ schema, schemas }: { schema: JsonObject; schemas: JsonObject }) =>
  schema['$ref'] === '#/components/schemas/Outcome' ? (
    <p>
      An <a href="#outcomes">outcome</a>.
    </p>
  ) : (
    <Members schema={schema} schemas={schemas} />
  );

const Refusals = ({ operation }: { operation: Operation }) => {
  const problems = problemsOf(operation);
  if (problems.length === 0) return null;
  return (
    <>
      <h4>Refuses with</h4>
      <ul class="contents">
        {problems.map((slug) => (
          <li>
            {PROBLEM_TYPES[slug].status} <a href={`/docs/problems/${slug}`}>{slug}</a>
          </li>
        ))}
      </ul>
    </>
  );
};

/** A text in which backticks mark code. */
const Inline = ({ text }: { text: string }) => (
  <>{text.split('`').map((part, index) => (index % 2 === 1 ? <code>{part}</code> : part))}</>
);

/** The object at that place of the document; the builder put it there. */
export const at = (document: JsonObject, ...path: string[]): JsonObject =>
  path.reduce((object, name) => object[name] as JsonObject, document);
