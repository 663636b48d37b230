/** Judges recorded answers by the published OpenAPI document. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { Json } from './client.ts';

type Recorded = { method: string; path: string; status: number; headers: Headers; text: string };
type Content = Record<string, { schema?: object }>;
type Reply = { $ref?: string; headers?: Record<string, { $ref: string }>; content?: Content };

const BASE = 'openapi.json';

/** RFC 6901 in a URI fragment. */
const pointer = (...names: string[]): string =>
  names.map((name) => `/${encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'))}`).join('');

export function conformityTo(document: Json) {
  const ajv = new Ajv2020({
    strict: false,
    formats: { 'date-time': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/, email: /^[^@\s]+@[^@\s]+$/ },
  });
  ajv.addSchema(document, BASE);
  const paths = document['paths'] as Record<
    string,
    Record<string, { operationId: string; responses: Record<string, Reply> }>
  >;
  const templates = Object.keys(paths).map((path) => ({
    path,
    matches: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+').replaceAll('.', '\\.')}$`),
  }));
  const unasked = new Set(
    Object.values(paths).flatMap((methods) => Object.values(methods).map((one) => one.operationId)),
  );

  const misfitOf = (at: string, value: unknown): string[] => {
    const validate = ajv.compile({ $ref: `${BASE}#${at}` });
    return validate(value) ? [] : [ajv.errorsText(validate.errors)];
  };

  function headerMisfits(reply: Reply, { status, headers }: Recorded): string[] {
    return Object.keys(reply.headers ?? {}).flatMap((name) => {
      const value = headers.get(name);
      if (value === null) return status < 400 ? [`no header ${name}`] : [];
      return misfitOf(pointer('components', 'headers', name, 'schema'), value).map((misfit) => `${name}: ${misfit}`);
    });
  }

  function bodyMisfits(at: string, reply: Reply, { headers, text }: Recorded): string[] {
    if (text === '') return reply.content === undefined ? [] : ['no body'];
    const [type = ''] = (headers.get('content-type') ?? '').split(';');
    const media = reply.content?.[type];
    if (media === undefined) return [`content type ${type}`];
    if (media.schema === undefined) return [];
    return misfitOf(`${at}${pointer('content', type, 'schema')}`, JSON.parse(text));
  }

  return {
    /** The operations that no answer came from. */
    unasked: (): string[] => [...unasked],

    /** How the answer differs from what the document says of it. */
    misfits(recorded: Recorded): string[] {
      const { method, path, status } = recorded;
      const template = templates.find(({ matches }) => matches.test(path.replace(/\?.*$/, '')))?.path ?? '';
      const operation = paths[template]?.[method.toLowerCase()];
      const reply = operation?.responses[status];
      const told = (misfit: string): string => `${method} ${path} ${status}: ${misfit}`;
      if (operation === undefined || reply === undefined) return [told('not described')];
      unasked.delete(operation.operationId);
      const own = pointer('paths', template, method.toLowerCase(), 'responses', String(status));
      const at = reply.$ref?.slice('#'.length) ?? own;
      const described = reply.$ref === undefined ? reply : (responseAt(document, reply.$ref) as Reply);
      return [...headerMisfits(described, recorded), ...bodyMisfits(at, described, recorded)].map(told);
    },
  };
}

const responseAt = (document: Json, reference: string): unknown =>
  reference
    .slice('#/'.length)
    .split('/')
    .reduce<unknown>((at, name) => (at as Json)[name], document);
