/** The pages that explain the gate, rendered from their Markdown: nothing loaded from anywhere, no script. */
import { raw } from 'hono/html';
import { micromark } from 'micromark';
import type { HttpContext } from '../shared/context.ts';
import { answerDocument, setContentPolicy } from '../shared/page.tsx';

/** What these pages have beyond the approver's page. */
const STYLE = `
.brand a { color: inherit; text-decoration: none; }
.brand nav { display: flex; flex-wrap: wrap; gap: 4px 16px; }
.brand nav a { color: var(--accent); text-decoration: underline; }
h2 { font-size: 24px; margin: 48px 0 12px; }
h3 { font-size: 18px; margin: 36px 0 6px; }
h4 { font-size: 16px; margin: 28px 0 4px; padding-top: 16px; border-top: 1px solid var(--line); }
h2, h3, h4 { scroll-margin-top: 16px; }
code, pre { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: 0.9em; }
pre {
  margin: 0 0 16px; padding: 14px 16px; border-radius: 10px; line-height: 1.5; white-space: pre-wrap;
  background: var(--card); border: 1px solid var(--line);
}
ul { margin: 0 0 16px; padding-left: 20px; }
li { margin-bottom: 6px; }
`;

/** Each heading's id is its text: `Tool get_order` is `tool-get_order`. Markup in `markdown` is shown and not interpreted. */
export function answerPage(c: HttpContext, title: string, markdown: string): Promise<Response> {
  const brand = (
    <>
      <a href="/docs">
        <strong>Toolgate</strong>
      </a>
      <nav>
        <a href="/docs/problems">Problems</a>
        <a href="/openapi.json">OpenAPI</a>
        <a href="/llms.txt">llms.txt</a>
      </nav>
    </>
  );
  const body = raw(
    micromark(markdown).replaceAll(
      /^<(h[234])>(.*)$/gm,
      (_, tag: string, rest: string) => `<${tag} id="${idOf(rest)}">${rest}`,
    ),
  );
  return answerDocument(c, setContentPolicy(c), { status: 200, title, brand, body, style: STYLE });
}

const idOf = (heading: string): string =>
  heading
    .replaceAll(/<[^<>]*>/g, '')
    .replaceAll(' ', '-')
    .replace(/^./, (first) => first.toLowerCase());
