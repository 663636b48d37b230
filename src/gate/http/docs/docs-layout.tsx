/** The pages that explain the gate: one look, one set of headers, nothing loaded from anywhere, no script. */
import type { Child } from 'hono/jsx';
import type { HttpContext } from '../shared/context.ts';
import { answerDocument, newNonce } from '../shared/page.tsx';

/** What these pages have beyond the approver's page. */
const STYLE = `
.brand a { color: inherit; text-decoration: none; }
.brand nav { display: flex; flex-wrap: wrap; gap: 4px 16px; }
.brand nav a { color: var(--accent); text-decoration: underline; }
h2 { font-size: 24px; margin: 48px 0 12px; scroll-margin-top: 16px; }
h3 { font-size: 17px; margin: 28px 0 6px; }
.entry h3 { margin-top: 0; }
h4 { margin: 16px 0 4px; font-size: 14px; color: var(--muted); }
code, pre { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: 0.9em; }
pre {
  margin: 0 0 16px; padding: 14px 16px; border-radius: 10px; line-height: 1.5; white-space: pre-wrap;
  background: var(--card); border: 1px solid var(--line);
}
.contents { display: flex; flex-wrap: wrap; gap: 8px 20px; margin: 0 0 20px; padding: 0; list-style: none; }
.entry { padding: 18px 20px; }
.entry .contents { gap: 4px 16px; margin-bottom: 4px; font-size: 15px; }
.entry p { margin-bottom: 8px; }
.entry .pill { margin-bottom: 4px; }
td pre { margin: 0; overflow-wrap: anywhere; }
.entry pre { background: var(--ground); margin-bottom: 0; }
table { width: 100%; margin-bottom: 16px; border-collapse: collapse; font-size: 15px; }
th, td { overflow-wrap: break-word; padding: 8px 16px 8px 0; border-top: 1px solid var(--line); text-align: left; vertical-align: top; }
thead th { border-top: 0; color: var(--muted); font-weight: 600; font-size: 14px; }
tbody th { font-weight: 600; }
details { margin-top: 8px; }
summary { cursor: pointer; min-height: 32px; color: var(--accent); font-weight: 600; }
@media (max-width: 640px) {
  table, tbody, tr, th, td { display: block; }
  thead { display: none; }
  th, td { padding: 0; border: 0; overflow-wrap: anywhere; }
  tr { padding: 10px 0; border-top: 1px solid var(--line); }
  h2 { font-size: 21px; }
}
`;

export function answerPage(c: HttpContext, title: string, body: Child): Promise<Response> {
  const nonce = newNonce();
  c.header(
    'Content-Security-Policy',
    `default-src 'none'; style-src 'nonce-${nonce}'; base-uri 'none'; frame-ancestors 'none'`,
  );
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
  return answerDocument(c, nonce, { status: 200, title, brand, body, isListed: true, style: STYLE });
}

export const Code = ({ children }: { children?: Child }) => (
  <pre>
    <code>{children}</code>
  </pre>
);

/** A text in which backticks mark code. */
export const Inline = ({ text }: { text: string }) => (
  <>{text.split('`').map((part, index) => (index % 2 === 1 ? <code>{part}</code> : part))}</>
);

/** The first cell of a row names it. */
export const Table = ({ head, rows }: { head: string[]; rows: Child[][] }) => (
  <table>
    <thead>
      <tr>
        {head.map((cell) => (
          <th scope="col">{cell}</th>
        ))}
      </tr>
    </thead>
    <tbody>
      {rows.map(([name, ...cells]) => (
        <tr>
          <th scope="row">{name}</th>
          {cells.map((cell) => (
            <td>{cell}</td>
          ))}
        </tr>
      ))}
    </tbody>
  </table>
);
