/** The one HTML document that every page is: nothing loaded from anywhere, no script, one look. */
import { html } from 'hono/html';
import type { Child } from 'hono/jsx';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { HttpContext } from './context.ts';
import { pageStyle } from './page-style.ts';

const NONCE_BYTES = 16;

export type Document = {
  status: ContentfulStatusCode;
  title: string;
  /** Shown above each page of its kind. */
  brand: Child;
  body: Child;
  /** Beyond what all pages have. Holds no `<`, so that it cannot end its own element. */
  style?: string;
};

/**
 * Allows a page its own style and nothing else, and returns the style's nonce. It is random for each answer, because a
 * predictable nonce would allow an injected style.
 */
export function setContentPolicy(c: HttpContext, formAction = ''): string {
  const nonce = btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(NONCE_BYTES))));
  c.header(
    'Content-Security-Policy',
    `default-src 'none'; style-src 'nonce-${nonce}'; ${formAction}base-uri 'none'; frame-ancestors 'none'`,
  );
  return nonce;
}

/** `nonce` is that of the content policy, which the caller sets with its other headers. */
export async function answerDocument(c: HttpContext, nonce: string, document: Document): Promise<Response> {
  const { status, title, brand, body, style = '' } = document;
  const page = (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>{`${title} · Toolgate`}</title>
        <style nonce={nonce} dangerouslySetInnerHTML={{ __html: pageStyle + style }} />
      </head>
      <body>
        <div class="frame">
          <header class="brand">{brand}</header>
          <main>{body}</main>
        </div>
      </body>
    </html>
  );
  return c.html(await html`<!DOCTYPE html>${page}`, status);
}
