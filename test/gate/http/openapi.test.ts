import { Validator } from '@seriousme/openapi-schema-validator';
import { describe, expect, it } from 'vitest';
import { app, registry } from '../../support/tools.ts';
import { openApiDocument } from '../../../src/gate/http/docs/openapi.ts';
import { describedRoutes } from '../../../src/gate/http/shared/operation.ts';
import { PROBLEM_TYPES } from '../../../src/gate/http/shared/problem.ts';

const document = openApiDocument('https://toolgate.test', describedRoutes(app.routes), registry);
const paths = document['paths'] as Record<string, Record<string, { operationId: string }>>;
const described = Object.entries(paths).flatMap(([path, operations]) =>
  Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
);

describe('openApiDocument', () => {
  it('is OpenAPI 3.1 in the eyes of a public validator', async () => {
    const validator = new Validator();
    expect(await validator.validate(structuredClone(document))).toEqual({ valid: true });
    expect(validator.version).toBe('3.1');
  });

  it('describes every route', () => {
    const routes = app.routes
      .filter(({ method }) => method !== 'ALL')
      .map(({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}`);
    expect(described.toSorted()).toEqual([...new Set(routes)].toSorted());
  });

  it('names each operation once', () => {
    const ids = Object.values(paths).flatMap((operations) => Object.values(operations).map((one) => one.operationId));
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('points only to what it holds', () => {
    const text = JSON.stringify(document);
    for (const [, pointer = ''] of text.matchAll(/"\$ref":"#\/([^"]+)"/g)) {
      const found = pointer.split('/').reduce<unknown>((at, name) => (at as Record<string, unknown>)[name], document);
      expect(found, pointer).toBeDefined();
    }
  });

  it('mentions every problem that some operation answers with', () => {
    const text = JSON.stringify(document);
    // A method that no operation has is refused before any of them.
    const missing = Object.keys(PROBLEM_TYPES).filter((slug) => !text.includes(`/docs/problems/${slug}"`));
    expect(missing).toEqual(['method-not-allowed']);
  });
});
