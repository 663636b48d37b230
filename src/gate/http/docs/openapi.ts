/** The HTTP surface as one OpenAPI 3.1 document, assembled from the descriptions beside the routes. */
import * as z from 'zod';
import { createDocument, type ZodOpenApiOperationObject, type ZodOpenApiResponseObject } from 'zod-openapi';
import { version } from '../../../../package.json';
import type { JsonObject } from '../../json.ts';
import type { Registry } from '../../tool/registry.ts';
import { HEADERS, type Answer, type Credential, type DescribedRoute, type HeaderName } from '../shared/operation.ts';
import { PROBLEM_TYPES, problemUrl, type ProblemSlug, type ProblemType } from '../shared/problem.ts';
import { gateCodes } from './codes.ts';

const CREDENTIALS = {
  caller: 'An API key (tgk_…): `Authorization: Bearer <key>`. Held by the host application, never by the agent.',
  agent: 'A session token: `Authorization: Bearer <token>`. Proposes calls; decides nothing.',
  approver: 'A signed link from a mail: `?t=<token>`. The only thing that decides.',
  operator: 'The operator token: `Authorization: Bearer <ADMIN_TOKEN>`.',
} as const satisfies Record<Credential, string>;

const bearer = (credential: Credential) =>
  ({ type: 'http', scheme: 'bearer', description: CREDENTIALS[credential] }) as const;

/** RFC 9457. */
const problemSchema = z
  .strictObject({
    type: z.string().describe('The page that explains it.'),
    title: z.string(),
    status: z.int(),
    detail: z.string().exactOptional().describe('Names of members and what is expected there, never a value.'),
  })
  .meta({ id: 'Problem' });

export function openApiDocument(publicUrl: string, routes: readonly DescribedRoute[], { tools }: Registry): JsonObject {
  const problem = problemResponses(publicUrl);
  const paths: Record<string, Record<string, ZodOpenApiOperationObject>> = {};
  for (const route of routes) paths[route.path] = { ...paths[route.path], [route.method]: operationOf(route, problem) };
  const anyOf = (part: 'arguments' | 'data') => ({
    type: 'object' as const,
    anyOf: tools.map(({ name }) => ({ $ref: `#/components/schemas/${name}.${part}` })),
  });
  const codes = new Set([...gateCodes, ...tools.flatMap(({ codes }) => codes).toSorted()]);
  const document = createDocument(
    {
      openapi: '3.1.1',
      info: {
        title: 'Toolgate',
        version,
        description:
          'A gate for the tool calls of language models: the model proposes, code decides. Every proposed call is answered with ' +
          `HTTP 200 and an outcome; any other request is refused with a problem. Documentation: ${publicUrl}/docs`,
      },
      servers: [{ url: publicUrl }],
      paths,
      components: {
        schemas: {
          Problem: problemSchema,
          ToolArguments: anyOf('arguments'),
          ToolData: anyOf('data'),
          Code: { type: 'string', enum: [...codes] },
          ...Object.fromEntries(
            tools.flatMap(({ name, inputSchema, outputSchema }) => [
              [`${name}.arguments`, inputSchema],
              [`${name}.data`, outputSchema],
            ]),
          ),
        },
        headers: Object.fromEntries(
          Object.entries(HEADERS).map(([name, { description, pattern }]) => [
            name,
            { description, schema: { type: 'string', pattern } },
          ]),
        ),
        securitySchemes: {
          caller: bearer('caller'),
          agent: { ...bearer('agent'), bearerFormat: 'JWT' },
          approver: { type: 'apiKey', in: 'query', name: 't', description: CREDENTIALS.approver },
          operator: bearer('operator'),
        },
      },
    },
    {
      allowEmptySchema: { custom: true },
      // The format says it; zod's pattern for it fills half a page.
      override: ({ jsonSchema }) => {
        if (jsonSchema.format !== undefined) delete jsonSchema.pattern;
      },
    },
  );
  return document as unknown as JsonObject;
}

function operationOf(route: DescribedRoute, problem: (slugs: ProblemSlug[]) => ZodOpenApiResponseObject) {
  const { path, id, summary, description, credential, params = {}, query, requestHeaders, body, form } = route;
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  const content = {
    ...(body === undefined ? {} : { 'application/json': { schema: body } }),
    ...(form === undefined ? {} : { 'application/x-www-form-urlencoded': { schema: form } }),
  };
  return {
    operationId: id,
    summary,
    ...(description === undefined ? {} : { description }),
    security: credential === null ? [] : [{ [credential]: [] }],
    requestParams: {
      path: z.object(Object.fromEntries(names.map((name) => [name, params[name] ?? z.string()]))),
      ...(query === undefined ? {} : { query }),
      ...(requestHeaders === undefined ? {} : { header: requestHeaders }),
    },
    ...(body === undefined && form === undefined ? {} : { requestBody: { required: true, content } }),
    responses: responsesOf(route, problem),
  };
}

/** By status, of which an operation has one response each: one that an answer and a problem share has both contents. */
function responsesOf(
  route: DescribedRoute,
  problem: (slugs: ProblemSlug[]) => ZodOpenApiResponseObject,
): Record<string, ZodOpenApiResponseObject> {
  const responses: Record<string, ZodOpenApiResponseObject> = Object.fromEntries(
    Object.entries(route.answers).map(([status, answer]) => [status, responseOf(answer)]),
  );
  for (const [status, slugs] of Map.groupBy(problemsOf(route), (slug) => PROBLEM_TYPES[slug].status)) {
    const answer = responses[status];
    const refusal = problem(slugs);
    responses[status] =
      answer === undefined ? refusal : { ...answer, content: { ...answer.content, ...refusal.content } };
  }
  return responses;
}

const responseOf = ({ headers = [], ...answer }: Answer): ZodOpenApiResponseObject => ({
  ...answer,
  headers: headersOf([...headers, 'X-Request-Id']),
});

const headersOf = (names: readonly HeaderName[]) =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));

/** All problems that a route may answer with, each once, by their status. */
function problemsOf({ path, credential, body, problems = [] }: DescribedRoute): ProblemSlug[] {
  // What an approver's browser is told is a page.
  if (credential === 'approver') return ['misdirected', 'not-configured'];
  if (path === '/healthz') return [];
  const brought: ProblemSlug[] = [
    ...(credential === null ? [] : (['unauthorized', 'too-many-requests'] as const)),
    ...(body === undefined
      ? []
      : (['invalid-json', 'body-too-large', 'unsupported-media-type', 'invalid-body'] as const)),
    ...problems,
  ];
  return [...new Set([...brought, 'misdirected', 'not-configured', 'unavailable'] as const)].toSorted(
    (a, b) => PROBLEM_TYPES[a].status - PROBLEM_TYPES[b].status,
  );
}

/** Makes the response of several problems of one status once: they are one response, with an example of each. */
function problemResponses(publicUrl: string): (slugs: ProblemSlug[]) => ZodOpenApiResponseObject {
  const made = new Map<string, ZodOpenApiResponseObject>();
  return (slugs) => {
    const id = slugs.join('_or_');
    const response = made.get(id) ?? { id, ...problemResponse(slugs, publicUrl) };
    made.set(id, response);
    return response;
  };
}

function problemResponse(slugs: ProblemSlug[], publicUrl: string): ZodOpenApiResponseObject {
  const types = slugs.map((slug): ProblemType & { type: string } => ({
    type: problemUrl(publicUrl, slug),
    ...PROBLEM_TYPES[slug],
  }));
  const headers = new Set(types.flatMap(({ headers = {} }) => Object.keys(headers) as HeaderName[]));
  const properties = {
    type: { enum: types.map(({ type }) => type) },
    title: { enum: types.map(({ title }) => title) },
  };
  const examples: Record<string, { value: object }> = {};
  for (const { type, title, status } of types) examples[type.replace(/^.*\//, '')] = { value: { type, title, status } };
  return {
    description: types.map(({ title }) => `${title}.`).join(' '),
    headers: headersOf([...headers, 'X-Request-Id']),
    content: {
      'application/problem+json': { schema: { $ref: '#/components/schemas/Problem', properties }, examples },
    },
  };
}
