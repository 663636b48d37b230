/** The HTTP surface as one OpenAPI 3.1 document, assembled from the list of operations and the schemas they use. */
import type * as z from 'zod';
import { version } from '../../../../package.json';
import type { JsonObject } from '../../json.ts';
import type { Registry } from '../../tool/registry.ts';
import { namedSchemas, schemaOf } from './openapi-schemas.ts';
import { CREDENTIALS, HEADERS, problemsOf, type Answer, type HeaderName, type Operation } from '../shared/operation.ts';
import { operations } from './operations.ts';
import { PROBLEM_TYPES, problemUrl, type ProblemSlug, type ProblemType } from '../shared/problem.ts';

const SECURITY_SCHEMES = {
  caller: { type: 'http', scheme: 'bearer', description: CREDENTIALS.caller },
  agent: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: CREDENTIALS.agent },
  operator: { type: 'http', scheme: 'bearer', description: CREDENTIALS.operator },
  approver: { type: 'apiKey', in: 'query', name: 't', description: CREDENTIALS.approver },
};

export function openApiDocument(publicUrl: string, registry: Registry): JsonObject {
  const paths: Record<string, Record<string, JsonObject>> = {};
  for (const operation of operations) {
    paths[operation.path] = { ...paths[operation.path], [operation.method]: operationObject(operation, publicUrl) };
  }
  return {
    openapi: '3.1.1',
    info: {
      title: 'Toolgate',
      version,
      description:
        'A gate for the tool calls of language models: the model proposes, code decides. Every proposed call is answered with ' +
        `HTTP 200 and an outcome; whatever is no proposed call is refused with a problem. To read: ${publicUrl}/docs`,
    },
    servers: [{ url: publicUrl }],
    paths,
    components: {
      schemas: namedSchemas(registry),
      headers: Object.fromEntries(
        Object.entries(HEADERS).map(([name, { description, pattern }]) => [
          name,
          { description, schema: { type: 'string', pattern } },
        ]),
      ),
      responses: sharedResponses(publicUrl),
      securitySchemes: SECURITY_SCHEMES,
    },
  };
}

function operationObject(operation: Operation, publicUrl: string): JsonObject {
  const { id, summary, description, credential } = operation;
  return {
    operationId: id,
    summary,
    ...(description === undefined ? {} : { description }),
    security: credential === null ? [] : [{ [credential]: [] }],
    ...parametersOf(operation),
    ...requestBodyOf(operation),
    responses: responsesOf(operation, publicUrl),
  };
}

function parametersOf({ params = {}, query = {}, credential }: Operation): JsonObject {
  const inPath = Object.entries(params).map(([name, schema]) => ({
    ...parameter(name, schema),
    in: 'path',
    required: true,
  }));
  const inQuery = Object.entries(query)
    // The link's token is a credential, and described as one.
    .filter(([name]) => credential !== 'approver' || name !== 't')
    .map(([name, schema]) => ({ ...parameter(name, schema), in: 'query', required: false }));
  const parameters = [...inPath, ...inQuery];
  return parameters.length === 0 ? {} : { parameters };
}

function parameter(name: string, schema: z.ZodType): JsonObject {
  const { description, ...rest } = writtenOf(schemaOf(schema));
  return { name, ...(description === undefined ? {} : { description }), schema: rest };
}

/** What is absent is null inside; a URL has no null to write. */
function writtenOf(schema: JsonObject): JsonObject {
  const { default: preset, anyOf, ...rest } = schema;
  const [present, absent] = Array.isArray(anyOf) ? (anyOf as JsonObject[]) : [];
  const isNullable = absent?.['type'] === 'null';
  return {
    ...rest,
    ...(isNullable ? present : anyOf === undefined ? {} : { anyOf }),
    ...(preset === undefined || preset === null ? {} : { default: preset }),
  };
}

function requestBodyOf({ body, form }: Operation): JsonObject {
  const content = {
    ...(body === undefined ? {} : { 'application/json': { schema: schemaOf(body) } }),
    ...(form === undefined ? {} : { 'application/x-www-form-urlencoded': { schema: schemaOf(form) } }),
  };
  return Object.keys(content).length === 0 ? {} : { requestBody: { required: true, content } };
}

function responseOf({ description, content, headers = [] }: Answer): JsonObject {
  const media = Object.entries(content ?? {}).map(([type, schema]) => [
    type,
    schema === null ? {} : { schema: schemaOf(schema) },
  ]);
  return {
    description,
    headers: headersOf([...headers, 'X-Request-Id']),
    ...(media.length === 0 ? {} : { content: Object.fromEntries(media) as JsonObject }),
  };
}

const headersOf = (names: readonly HeaderName[]): JsonObject =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));

/** By status: an OpenAPI operation has one response for each. */
const problemsByStatus = (operation: Operation): [number, ProblemSlug[]][] => [
  ...Map.groupBy(problemsOf(operation), (slug) => PROBLEM_TYPES[slug].status),
];

const responseName = (slugs: readonly ProblemSlug[]): string => slugs.join('_or_');

/** A status that an answer and a problem share is one response with both contents. */
function responsesOf(operation: Operation, publicUrl: string): JsonObject {
  const answered = new Map(Object.entries(operation.answers).map(([status, answer]) => [status, responseOf(answer)]));
  const problems = problemsByStatus(operation).map(([code, slugs]): [string, JsonObject] => {
    const status = String(code);
    const answer = answered.get(status);
    if (answer === undefined) return [status, { $ref: `#/components/responses/${responseName(slugs)}` }];
    const content = { ...contentOf(answer), ...contentOf(problemResponse(slugs, publicUrl)) };
    return [status, { ...answer, content }];
  });
  return { ...Object.fromEntries(answered), ...Object.fromEntries(problems) };
}

const contentOf = ({ content }: JsonObject): JsonObject => (content ?? {}) as JsonObject;

/** Each response that some operation points to, once. */
const sharedResponses = (publicUrl: string): JsonObject =>
  Object.fromEntries(
    operations.flatMap(problemsByStatus).map(([, slugs]) => [responseName(slugs), problemResponse(slugs, publicUrl)]),
  );

/** Two problems of one status are one response with two examples, each exactly what is sent. */
function problemResponse(slugs: readonly ProblemSlug[], publicUrl: string): JsonObject {
  const types = slugs.map((slug): [ProblemSlug, ProblemType] => [slug, PROBLEM_TYPES[slug]]);
  const headers = new Set(types.flatMap(([, type]) => Object.keys(type.headers ?? {}) as HeaderName[]));
  const schema = {
    $ref: '#/components/schemas/Problem',
    properties: {
      type: { enum: slugs.map((slug) => problemUrl(publicUrl, slug)) },
      title: { enum: types.map(([, { title }]) => title) },
    },
  };
  const examples = types.map(([slug, { title, status }]) => [
    slug,
    { value: { type: problemUrl(publicUrl, slug), title, status } },
  ]);
  return {
    description: types.map(([, { title }]) => `${title}.`).join(' '),
    headers: headersOf([...headers, 'X-Request-Id']),
    content: { 'application/problem+json': { schema, examples: Object.fromEntries(examples) as JsonObject } },
  };
}
