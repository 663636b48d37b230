/** The public description of the gate: pages for people, OpenAPI for programs, and a text for models. */
import { Hono } from 'hono';
import type { Config } from '../../env.ts';
import type { JsonObject } from '../../json.ts';
import type { HttpContext, HttpEnv } from '../shared/context.ts';
import { describedRoutes, describeRoute, text, type Answer } from '../shared/operation.ts';
import { problem } from '../shared/problem.ts';

const page = text('The page.', 'text/html');

const open = (id: string, summary: string, answer: Answer) =>
  describeRoute(() => ({ id, summary, credential: null, answers: { 200: answer } }));

const explainProblem = describeRoute(() => ({
  id: 'explainProblem',
  summary: 'What a problem type means',
  credential: null,
  answers: { 200: page },
  problems: ['not-found'],
}));

const loadPages = () => Promise.all([import('./docs-text.ts'), import('./docs-page.tsx')]);

/** The routes that describe the routes of `app`. What they need is loaded on request, so a start does not pay for it. */
export function docs(app: Pick<Hono<HttpEnv>, 'routes'>): Hono<HttpEnv> {
  const documents = new WeakMap<Config, JsonObject>();

  async function documentOf(c: HttpContext): Promise<JsonObject> {
    const { openApiDocument } = await import('./openapi.ts');
    const config = c.get('config');
    const known = documents.get(config);
    const document = known ?? openApiDocument(config.publicUrl, describedRoutes(app.routes), c.get('registry'));
    documents.set(config, document);
    return document;
  }

  return new Hono<HttpEnv>()
    .get('/docs', open('docs', 'How to use this gate', page), async (c) => {
      const [{ docsText }, { answerPage }] = await loadPages();
      const text = docsText(c.get('config').publicUrl, await documentOf(c), c.get('registry'));
      return answerPage(c, 'How to use it', text);
    })
    .get('/docs/problems', open('listProblems', 'All problem types', page), async (c) => {
      const [{ problemListText }, { answerPage }] = await loadPages();
      return answerPage(c, 'Problem types', problemListText());
    })
    .get('/docs/problems/:slug', explainProblem, async (c) => {
      const [{ problemText }, { answerPage }] = await loadPages();
      const slug = c.req.param('slug');
      const text = problemText(slug);
      if (text === null) return problem(c, 'not-found', { reason: 'unknown_problem_type' });
      return answerPage(c, slug, text);
    })
    .get(
      '/openapi.json',
      open('openapi', 'This description', { description: 'OpenAPI 3.1.', content: { 'application/json': {} } }),
      async (c) => c.json(await documentOf(c)),
    )
    .get('/llms.txt', open('llms', 'How to use this gate, for models', text('Markdown.', 'text/plain')), async (c) => {
      const { llmsText } = await import('./llms.ts');
      return c.text(llmsText(c.get('config').publicUrl, c.get('registry')));
    });
}
