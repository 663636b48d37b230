/** The page behind each problem's `type`, and their index. Server-rendered from the table that the answers come from. */
import { Hono } from 'hono';
import { html } from 'hono/html';
import type { Child } from 'hono/jsx';
import type { HttpContext, HttpEnv } from './context.ts';
import { PROBLEM_TYPES, problem, type ProblemSlug, type ProblemType } from './problem.ts';

const STYLE =
  'body{font:16px/1.5 system-ui,sans-serif;max-width:44rem;margin:2rem auto;padding:0 1rem;color:#1b1b1b;background:#fff}' +
  'table{border-collapse:collapse;width:100%}td,th{text-align:left;padding:.4rem .8rem .4rem 0;border-bottom:1px solid #ddd}' +
  'code{font-size:.95em}a{color:#0b57d0}' +
  '@media(prefers-color-scheme:dark){body{color:#e6e6e6;background:#161616}td,th{border-color:#444}a{color:#8ab4f8}}';

const types = new Map<string, ProblemType>(Object.entries(PROBLEM_TYPES));

export const problemDocs = new Hono<HttpEnv>()
  .get('/', (c) => page(c, 'Problem types', <Index />))
  .get('/:slug', (c) => {
    const slug = c.req.param('slug');
    const type = types.get(slug);
    if (type === undefined) return problem(c, 'not-found', { reason: 'unknown_problem_type' });
    return page(c, slug, <Explanation slug={slug as ProblemSlug} type={type} />);
  });

const Index = () => (
  <>
    <h1>Problem types</h1>
    <p>
      Requests that are no proposed call are refused with <code>application/problem+json</code> (RFC 9457); its{' '}
      <code>type</code> is one of these. A proposed call is always HTTP 200 with an outcome.
    </p>
    <table>
      <thead>
        <tr>
          <th scope="col">Status</th>
          <th scope="col">Type</th>
          <th scope="col">Title</th>
        </tr>
      </thead>
      <tbody>
        {[...types].map(([slug, { status, title }]) => (
          <tr>
            <td>{status}</td>
            <td>
              <a href={`/docs/problems/${slug}`}>{slug}</a>
            </td>
            <td>{title}</td>
          </tr>
        ))}
      </tbody>
    </table>
  </>
);

const Explanation = ({ slug, type }: { slug: ProblemSlug; type: ProblemType }) => (
  <>
    <h1>{type.title}</h1>
    <p>
      <code>{slug}</code>, HTTP {type.status}
    </p>
    <p>{type.explanation}</p>
    <p>
      <a href="/docs/problems">All problem types</a>
    </p>
  </>
);

function page(c: HttpContext, title: string, content: Child): Response | Promise<Response> {
  const nonce = crypto.randomUUID();
  c.header(
    'Content-Security-Policy',
    `default-src 'none'; style-src 'nonce-${nonce}'; base-uri 'none'; frame-ancestors 'none'`,
  );
  return c.html(
    html`<!doctype html>${(
        <html lang="en">
          <head>
            <meta charset="utf-8" />
            <meta name="viewport" content="width=device-width, initial-scale=1" />
            <title>{`${title} · Toolgate`}</title>
            <style nonce={nonce}>{STYLE}</style>
          </head>
          <body>{content}</body>
        </html>
      )}`,
  );
}
