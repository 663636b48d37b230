/** Every answer of the approver's routes is one HTML document under one set of headers, refusals included. */
import type { Child } from 'hono/jsx';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { HttpContext } from '../shared/context.ts';
import { answerDocument, newNonce } from '../shared/page.tsx';

/**
 * Sets the headers of docs/specification.md#the-page-and-the-decision. The page may load no script, image or other
 * resource, so text that slips into it stays text. The referrer policy is `strict-origin` because browsers post `Origin: null` under `no-referrer`, and the path with its token
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

export type ApproverDocument = { status: ContentfulStatusCode; title: string; body: Child };

export function answerApprover(c: HttpContext, document: ApproverDocument): Promise<Response> {
  const nonce = newNonce();
  setPageHeaders(c, nonce);
  const brand = (
    <>
      <strong>Toolgate</strong>
      <span>An agent proposes, a person decides</span>
    </>
  );
  return answerDocument(c, nonce, { ...document, brand, isListed: false });
}

/** A refusal that shows nothing of any approval. */
export function answerRefusal(
  c: HttpContext,
  status: ContentfulStatusCode,
  reason: string,
  text: RefusalText,
): Promise<Response> {
  c.set('reason', reason);
  return answerApprover(c, {
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
