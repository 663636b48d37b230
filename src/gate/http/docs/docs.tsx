/** What anybody may read about the gate: one page, the problem types, and the same for programs and for models. */
import { Hono } from 'hono';
import type { Config } from '../../env.ts';
import type { JsonObject } from '../../json.ts';
import type { HttpContext, HttpEnv } from '../shared/context.ts';
import { answerPage } from './docs-layout.tsx';
import { Docs } from './docs-page.tsx';
import { ProblemList, ProblemPage, problemTypeNamed } from './docs-problems.tsx';
import { llmsText } from './llms.ts';
import { openApiDocument } from './openapi.ts';
import { problem } from '../shared/problem.ts';

/** Assembled once an isolate, at the first request for it: a start of the Worker must not pay for it. */
const documents = new WeakMap<Config, JsonObject>();

function documentOf(c: HttpContext): JsonObject {
  const config = c.get('config');
  const document = documents.get(config) ?? openApiDocument(config.publicUrl, c.get('registry'));
  documents.set(config, document);
  return document;
}

export const docs = new Hono<HttpEnv>()
  .get('/docs', (c) =>
    answerPage(
      c,
      'How to use it',
      <Docs document={documentOf(c)} publicUrl={c.get('config').publicUrl} registry={c.get('registry')} />,
    ),
  )
  .get('/docs/problems', (c) => answerPage(c, 'Problem types', <ProblemList />))
  .get('/docs/problems/:slug', (c) => {
    const slug = c.req.param('slug');
    const type = problemTypeNamed(slug);
    if (type === undefined) return problem(c, 'not-found', { reason: 'unknown_problem_type' });
    return answerPage(c, slug, <ProblemPage slug={slug} type={type} />);
  })
  .get('/openapi.json', (c) => c.json(documentOf(c)))
  .get('/llms.txt', (c) => c.text(llmsText(c.get('config').publicUrl, c.get('registry'))));
