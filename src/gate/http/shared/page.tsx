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
  /** Whether search engines may list it. */
  isListed: boolean;
  /** Beyond what all pages have. Holds no `<`, so that it cannot end its own element. */
  style?: string;
};

/** Random for each answer: a nonce that could be known beforehand would allow an injected style. */
export function newNonce(): string {
  return btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(NONCE_BYTES))));
}

/** The caller sets the headers. Its content policy must allow only the style with this nonce. */
export async function answerDocument(c: HttpContext, nonce: string, document: Document): Promise<Response> {
  const { status, title, brand, body, isListed, style = '' } = document;
  const page = (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        {isListed ? null : <meta name="robots" content="noindex" />}
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
