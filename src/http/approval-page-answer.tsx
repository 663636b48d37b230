/** Every answer of the approver's routes is one HTML document under one set of headers, refusals included. */
import { html } from 'hono/html';
import type { Child } from 'hono/jsx';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { approvalPageStyle } from './approval-page-style.ts';
import type { HttpContext } from './context.ts';

const NONCE_BYTES = 16;

export type Document = { status: ContentfulStatusCode; title: string; body: Child };

/**
 * Sets the headers of SPEC 5. No script, no image, nothing from anywhere: whatever slips into the page stays text. The
 * referrer policy is `strict-origin` because browsers post `Origin: null` under `no-referrer`, and the path with its token
 * still stays out of every Referer.
 */
export function setPageHeaders(c: HttpContext, nonce: string): void {
  c.header(
    'Content-Security-Policy',
    `default-src 'none'; style-src 'nonce-${nonce}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
  );
  c.header('Referrer-Policy', 'strict-origin');
  c.header('X-Frame-Options', 'DENY');
  c.header('X-Content-Type-Options', 'nosniff');
  c.header('X-Robots-Tag', 'noindex');
  c.header('Cache-Control', 'no-store');
}

/** Random for each answer: a nonce that could be known beforehand would allow an injected style. */
export function newNonce(): string {
  return btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(NONCE_BYTES))));
}

export async function answerDocument(c: HttpContext, { status, title, body }: Document): Promise<Response> {
  const nonce = newNonce();
  setPageHeaders(c, nonce);
  const page = (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="robots" content="noindex" />
        <title>{`${title} · Toolgate`}</title>
        <style nonce={nonce} dangerouslySetInnerHTML={{ __html: approvalPageStyle }} />
      </head>
      <body>
        <div class="frame">
          <header class="brand">
            <strong>Toolgate</strong>
            <span>An agent proposes, a person decides</span>
          </header>
          <main>{body}</main>
        </div>
      </body>
    </html>
  );
  return c.html(await html`<!DOCTYPE html>${page}`, status);
}

/** A refusal that shows nothing of any approval. */
export function answerRefusal(
  c: HttpContext,
  status: ContentfulStatusCode,
  reason: string,
  text: RefusalText,
): Promise<Response> {
  c.set('reason', reason);
  return answerDocument(c, {
    status,
    title: text.title,
    body: (
      <>
        <h1>{text.title}</h1>
        <div class="card">
          <p>{text.explanation}</p>
        </div>
      </>
    ),
  });
}

export type RefusalText = { title: string; explanation: string };
