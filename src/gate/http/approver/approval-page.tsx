/**
 * The approver's routes (docs/specification.md#the-page-and-the-decision). The link is the only credential. Opening it
 * changes nothing, because mail scanners open links, run scripts and post forms. The phrase stops a scanner, the check of
 * the Origin stops another site, and the session object judges the decision.
 */
import { Hono } from 'hono';
import type { Child } from 'hono/jsx';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { verifyApprovalToken } from '../../auth/tokens.ts';
import { logError } from '../../log-line.ts';
import type { ApprovalView, DecisionAnswer, LinkProof, SessionRpc } from '../../session/rpc.ts';
import { fieldProblems } from './approval-page-decision.tsx';
import { DecisionFields, noteIsTooLong, readDecisionForm, type DecisionForm } from './approval-page-form.ts';
import { ApprovalBody, titleOf, type ApprovalPage } from './approval-page-view.tsx';
import { objectStub, type HttpContext, type HttpEnv } from '../shared/context.ts';
import { describeRoute, text } from '../shared/operation.ts';
import { answerDocument, setContentPolicy } from '../shared/page.tsx';

type Link = { proof: LinkProof; token: string; session: SessionRpc };

const APPROVAL_ID = /^[A-Za-z0-9_-]{1,64}$/;

const page = (description: string) => text(description, 'text/html');

const viewApproval = describeRoute(() => ({
  id: 'viewApproval',
  summary: "The approver's page; looking changes nothing",
  credential: 'approver',
  answers: {
    200: page('The page.'),
    404: page('The link opens nothing.'),
    503: page('Cannot be answered now.'),
  },
}));

const decideApproval = describeRoute(() => ({
  id: 'decideApproval',
  summary: "The approver's decision, from the page's own form",
  credential: 'approver',
  form: DecisionFields,
  answers: {
    303: { description: 'Decided.', headers: ['Location'] },
    403: page('Not sent from the page itself.'),
    404: page('The link opens nothing.'),
    409: page('Decided already, expired, paused, or shown figures have changed.'),
    413: page('Not the form of the page.'),
    415: page('Not the form of the page.'),
    422: page('No choice, or a wrong phrase: the page again.'),
    503: page('Cannot be decided now; still pending.'),
  },
}));

export const approvalPages = new Hono<HttpEnv>()
  .get('/:id', viewApproval, async (c) => {
    const link = await readLink(c);
    if (link === null) return badLink(c);
    const answer = await link.session.view(link.proof);
    if ('refused' in answer) return badLink(c);
    return answerPage(c, 200, { view: answer.view, approver: link.proof.approver });
  })
  .post('/:id', decideApproval, async (c) => {
    if (c.req.header('origin') !== c.get('config').publicUrl)
      return answerRefusal(c, 403, 'foreign_origin', FOREIGN_ORIGIN);
    const link = await readLink(c);
    if (link === null) return badLink(c);
    const reading = await readDecisionForm(c.req.raw);
    if (reading.ok && !noteIsTooLong(reading.form.note)) return decide(c, link, reading.form);

    const answer = await link.session.view(link.proof);
    if ('refused' in answer) return badLink(c);
    return reading.ok
      ? showAgain(c, link, reading.form, { refused: 'note_too_long', view: answer.view })
      : answerRefusal(c, reading.status, reading.reason, UNREADABLE_FORM);
  });

/** Logged like every exception; a browser is told so in HTML. Deciding twice is harmless: the first decision stands. */
approvalPages.onError((error, c) => {
  logError({ event: 'error', request_id: c.get('requestId'), route: '/approvals/:id' }, error);
  c.header('Retry-After', '5');
  return answerRefusal(c, 503, 'exception', UNAVAILABLE);
});

/** What the link proves, or null. Who it is good for, and whether still, only the object knows. */
async function readLink(c: HttpContext): Promise<Link | null> {
  const id = c.req.param('id') ?? '';
  const [token, another] = c.req.queries('t') ?? [];
  if (!APPROVAL_ID.test(id) || token === undefined || another !== undefined) return null;
  const claims = await verifyApprovalToken(c.get('config'), token, Date.now());
  if (claims === null) return null;
  const { object, approver, bits } = claims;
  return { proof: { approval_id: id, approver, bits }, token, session: objectStub(c.env, object) };
}

async function decide(c: HttpContext, link: Link, form: DecisionForm): Promise<Response> {
  const answer = await link.session.decide({
    ...link.proof,
    ...form,
    note: form.note === '' ? null : form.note,
    request_id: c.get('requestId'),
  });
  if ('decided' in answer) {
    setPageHeaders(c);
    return c.redirect(`/approvals/${link.proof.approval_id}?t=${link.token}`, 303);
  }
  return answer.refused === 'bad_link' ? badLink(c) : showAgain(c, link, form, answer);
}

type NotDecided =
  | Exclude<DecisionAnswer, { decided: string } | { refused: 'bad_link' }>
  | { refused: 'note_too_long'; view: ApprovalView };

/** The page again, with what was typed where it may still be sent. */
function showAgain(c: HttpContext, link: Link, form: DecisionForm, answer: NotDecided): Promise<Response> {
  const { view, refused } = answer;
  const page = { view, approver: link.proof.approver };
  c.set('reason', refused);
  switch (refused) {
    case 'already_decided':
      return answerPage(c, 409, { ...page, again: { why: 'already_decided' } });
    case 'stale':
      // The choice and the phrase were for other figures; the note is the approver's own.
      return answerPage(c, 409, {
        ...page,
        again: { why: 'stale', shown: form.shown },
        typed: { note: form.note },
      });
    case 'paused':
      return answerPage(c, 409, { ...page, again: { why: 'paused' }, typed: form });
    case 'unreadable':
      c.header('Retry-After', '30');
      return answerPage(c, 503, { ...page, again: { why: 'unreadable' }, typed: form });
    case 'no_choice':
    case 'wrong_phrase':
    case 'note_too_long':
      if (view.status !== 'pending') return answerPage(c, 409, { ...page, again: { why: 'already_decided' } });
      return answerPage(c, 422, {
        ...page,
        again: { why: 'problems', problems: [...new Set([...fieldProblems(form, view), refused])] },
        typed: form,
      });
  }
}

const answerPage = (c: HttpContext, status: 200 | 409 | 422 | 503, page: ApprovalPage): Promise<Response> =>
  answerApprover(c, status, titleOf(page), <ApprovalBody page={page} />);

/** Every answer of these routes is one HTML document under one set of headers, refusals included. */
function answerApprover(c: HttpContext, status: ContentfulStatusCode, title: string, body: Child): Promise<Response> {
  const brand = (
    <>
      <strong>Toolgate</strong>
      <span>An agent proposes, a person decides</span>
    </>
  );
  return answerDocument(c, setPageHeaders(c), { status, title, body, brand });
}

/**
 * Sets the headers of docs/specification.md#the-page-and-the-decision that are not those of all answers. The referrer policy
 * is `strict-origin` because browsers post `Origin: null` under `no-referrer`; the path with its token still stays out of
 * every Referer.
 */
function setPageHeaders(c: HttpContext): string {
  c.header('Referrer-Policy', 'strict-origin');
  c.header('X-Robots-Tag', 'noindex');
  return setContentPolicy(c, "form-action 'self'; ");
}

/** A refusal that shows nothing of any approval. */
function answerRefusal(
  c: HttpContext,
  status: ContentfulStatusCode,
  reason: string,
  { title, explanation }: RefusalText,
): Promise<Response> {
  c.set('reason', reason);
  const body = (
    <>
      <h1>{title}</h1>
      <div class="card">
        <p>{explanation}</p>
      </div>
    </>
  );
  return answerApprover(c, status, title, body);
}

type RefusalText = { title: string; explanation: string };

/**
 * Every bad link gets the same page, so that it reveals nothing about what exists. Bad links are not counted like other
 * failed credentials, because the approvers of an office share an address with its mail scanner (decision 12).
 */
export const badLink = (c: HttpContext): Promise<Response> => answerRefusal(c, 404, 'bad_link', BAD_LINK);

const BAD_LINK: RefusalText = {
  title: 'This link does not open anything',
  explanation:
    'It may be incomplete, too old, or meant for a person who no longer decides. Open it again from the mail as it came; if that does not help, ask the operator to send the request again.',
};
const FOREIGN_ORIGIN: RefusalText = {
  title: 'This was not sent from the page itself',
  explanation: 'Nothing was decided. Open the link from the mail in your browser and use the form there.',
};
const UNREADABLE_FORM: RefusalText = {
  title: 'This is not the form of the page',
  explanation: 'Nothing was decided. Open the link from the mail in your browser and use the form there.',
};
const UNAVAILABLE: RefusalText = {
  title: 'This cannot be answered right now',
  explanation:
    'Open the link from the mail again in a minute: the page then shows whether your decision was recorded. Sending it again is safe.',
};
