/** Public lists of hostile strings in everything that a page or a mail shows: they stay text, and nothing around them changes. */
import { html } from 'hono/html';
import { expect, it } from 'vitest';
import { ApprovalBody } from '../../../src/gate/http/approver/approval-page-view.tsx';
import { approvalMail, noticeMail } from '../../../src/gate/mail/messages.ts';
import type { ApprovalView } from '../../../src/gate/session/rpc.ts';
import type { Fact } from '../../../src/gate/tool/define-tool.ts';
import { approvalView } from '../../support/approval-view.ts';
import { describeCorpus, payloadsOf, type Corpus } from '../../support/corpora.ts';

const LINK = 'https://toolgate.test/approvals/apr_1?t=header.claims.signature';

type Texts = [string, string, string, string];

/** Several to a page, each in a place of its own. */
function inFours(strings: string[]): Texts[] {
  const fours = Array.from({ length: Math.ceil(strings.length / 4) }, (_, index) =>
    strings.slice(index * 4, index * 4 + 4),
  );
  return fours.map(([a = 'x', b = 'x', c = 'x', d = 'x']) => [a, b, c, d]);
}

/** Facts that somebody else worded. */
const worded = (...values: string[]): Fact[] => values.map((value) => ({ label: 'Customer', value, outside: true }));

const rejected = ([a, b, c, d]: Texts): ApprovalView =>
  approvalView({
    status: 'rejected',
    caller_name: a,
    note: b,
    claimed: { amount_cents: 2590, currency: 'BRL', arguments: { order_id: c, reason: d }, bounded: [] },
    facts: worded(c, d),
    others: [{ id: a, status: b, amount_cents: 1, currency: 'BRL', opened_at: 0, note: null }],
    result: { ok: false, refusal: { code: 'CONFIRMATION_REJECTED', note: b } },
  });

/** The page again, with what was typed kept in its fields. */
const typed = async ([a, b, c, d]: Texts): Promise<string> => {
  const form = { decision: null, phrase: a, note: b, shown: c };
  const view = approvalView({
    claimed: { amount_cents: 2590, currency: 'BRL', arguments: { order_id: c, reason: d }, bounded: [] },
    facts: worded(a, b),
  });
  const problems: ['wrong_phrase'] = ['wrong_phrase'];
  return pageOf(<ApprovalBody page={{ view, approver: 0, again: { why: 'problems', problems }, typed: form }} />);
};

const pageOf = async (body: ReturnType<typeof ApprovalBody>): Promise<string> => (await html`${body}`).toString();

/** Tags with their attributes, and no text: what a browser would build. A field's own value is text too. */
const builtOf = (document: string): string[] =>
  (document.match(/<[^>]*>/g) ?? []).map((tag) =>
    tag.replace(/(<input type="(?:text|hidden)" [^>]*)value="[^"]*"/, '$1'),
  );

/** What no text between the tags may be: it would be a link where a reader's program makes links of words. */
const LINKED = /:\/\/|\bwww\.\w|[^\s@]@[a-z0-9-]+\.[a-z]/i;
const textsOf = (document: string): string => document.replaceAll(/<[^>]*>/g, ' ');

const mailOf = async ([a, b, c, d]: Texts, name: string): Promise<object> => {
  const claimed = {
    amount_cents: 2590,
    currency: 'BRL',
    arguments: { order_id: 'ORD-1001', reason: a, comment: b, [`${c.slice(0, 9)}_`]: d },
  };
  const asked = { kind: 'approval', to: 'ana@shop.example', link: LINK } as const;
  return approvalMail({
    ...asked,
    view: approvalView({ claimed, session_id: a, caller_name: name, facts: worded(c, d) }),
  });
};

async function expectInert(strings: string[]): Promise<void> {
  const plain: Texts = ['x', 'x', 'x', 'x'];
  const harmless = {
    page: builtOf(await pageOf(<ApprovalBody page={{ view: rejected(plain), approver: 0 }} />)),
    typed: builtOf(await typed(plain)),
    mail: await mailOf(plain, 'Shop'),
  };
  for (const texts of inFours(strings)) {
    const page = await pageOf(<ApprovalBody page={{ view: rejected(texts), approver: 0 }} />);
    expect({ texts, page: builtOf(page) }).toEqual({ texts, page: harmless.page });
    expect({ texts, linked: LINKED.exec(textsOf(page))?.[0] }).toEqual({ texts, linked: undefined });
    expect({ texts, typed: builtOf(await typed(texts)) }).toEqual({ texts, typed: harmless.typed });
    expect({ texts, mail: await mailOf(texts, 'Shop') }).toEqual({ texts, mail: harmless.mail });
  }
}

/** A name is the operator's: a mail shows it as it is, in one place, and nothing else of the mail depends on it. */
async function expectInertNames(strings: string[]): Promise<void> {
  const notice = {
    kind: 'notice',
    to: 'ana@shop.example',
    tool: 'refund_order',
    limit: { name: 'approvers' },
    money: null,
    at: 0,
  } as const;
  const harmless = await noticeMail({ ...notice, caller_name: 'Shop' });
  for (const caller_name of strings) {
    const { subject, html: document } = await noticeMail({ ...notice, caller_name });
    expect({ caller_name, subject, built: builtOf(document) }).toEqual({
      caller_name,
      subject: harmless.subject,
      built: builtOf(harmless.html),
    });
  }
}

const filesOf = (corpus: Corpus): string[] => corpus.names.filter((name) => /\.(?:txt|json)$/.test(name));

describeCorpus('naughty-strings', (corpus) => {
  it('changes nothing of a page or a mail', { timeout: 30_000 }, () => expectInert(payloadsOf(corpus, 'blns.json')));
  it('changes nothing but the name in a mail', () => expectInertNames(payloadsOf(corpus, 'blns.json')));
});

describeCorpus('markup', (corpus) => {
  it.each(filesOf(corpus))('changes nothing of a page or a mail: %s', { timeout: 30_000 }, (name) =>
    expectInert(payloadsOf(corpus, name)),
  );
  it.each(filesOf(corpus))('changes nothing but the name in a mail: %s', (name) =>
    expectInertNames(payloadsOf(corpus, name)),
  );
});
