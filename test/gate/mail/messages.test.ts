import { convert } from 'html-to-text';
import { describe, expect, it } from 'vitest';
import { approvalMail, decidedMail, noticeMail, type Mail, type NoticeTask } from '../../../src/gate/mail/messages.ts';
import { approvalView, orderFacts, type ViewChanges } from '../../support/approval-view.ts';

const LINK = 'https://toolgate.test/approvals/apr_0f3e9c2ab7d84461b5a0c6e1d29f7a48?t=header.claims.signature';

const approval = (changes: ViewChanges = {}): Promise<Mail> =>
  approvalMail({ kind: 'approval', to: 'ana@shop.example', link: LINK, view: approvalView(changes) });

const notice = (changes: Partial<NoticeTask> = {}): Promise<Mail> =>
  noticeMail({
    kind: 'notice',
    to: 'ana@shop.example',
    caller_name: 'Shop assistant',
    tool: 'refund_order',
    limit: { name: 'max_refund_cents', limit_cents: 50_000, currency: 'BRL' },
    money: { amount_cents: 990_000, currency: 'BRL' },
    at: Date.UTC(2026, 10, 29, 14, 5),
    ...changes,
  });

/** Every fact of the plain text, and every fact of the HTML as a reader of it sees them. */
const factsOfText = ({ text }: Mail): string[] =>
  text.split('\n').flatMap((line) => (/^ {2}\S/.test(line) ? [line.trim()] : []));
const factsOfHtml = ({ html }: Mail): string[] =>
  [...html.matchAll(/<tr>(.*?)<\/tr>/gs)].map(([, row = '']) => {
    const cell = (tag: string): string => new RegExp(`<${tag}\\b[^>]*>(.*?)</${tag}>`, 's').exec(row)?.[1] ?? '';
    return `${convert(cell('th'), { wordwrap: false })}: ${convert(cell('td'), { wordwrap: false })}`;
  });

const everyMail: [string, () => Promise<Mail>][] = [
  ['an approval', () => approval()],
  ['an approval whose facts cannot be read', () => approval({ facts: null })],
  ['an approval of a tool that shows no facts', () => approval({ facts: [] })],
  [
    'an approval with a fact that somebody else worded',
    () => approval({ facts: [{ label: 'Customer', value: 'www.evil.example', outside: true }] }),
  ],
  [
    'an approval of a busy subject',
    () =>
      approval({
        others: Array.from({ length: 12 }, (_, index) => ({
          id: `apr_other${index}`,
          status: 'executed',
          amount_cents: 100 * index,
          currency: 'BRL',
          opened_at: Date.UTC(2026, 10, 1 + index),
          note: null,
        })),
      }),
  ],
  ['an approval for a caller with markup in its name', () => approval({ caller_name: `A & B's <b>"shop"</b>` })],
  ['a notice', () => notice()],
  ['a notice without an amount', () => notice({ money: null })],
];

describe('approvalMail', () => {
  it('says what the system of record says apart from what the agent claims', async () => {
    const { text } = await approval({ facts: orderFacts({ 'Refunded so far': '10.00 BRL' }) });
    const [, ledger = '', claims = ''] =
      /What the system of record says\n-+\n(.*?)\n\nWhat the agent claims, unchecked\n-+\n(.*?)\n\n/s.exec(text) ?? [];
    expect(ledger.split('\n').map((line) => line.trim())).toEqual([
      'Order: ORD-1001',
      'Customer: CUS-1',
      'Order total: 120.00 BRL',
      'Refunded so far: 10.00 BRL',
      'Still refundable: 120.00 BRL',
      'Other requests for the same, last 30 days: none',
    ]);
    expect(claims.split('\n').map((line) => line.trim())).toEqual([
      'Tool: refund_order',
      'Amount: 25.90 BRL',
      'order_id: ORD-1001',
      'reason: damaged',
    ]);
  });

  it('lists the other requests for the same', async () => {
    const other = { id: 'apr_other', status: 'executed', amount_cents: 500, currency: 'BRL', opened_at: 0, note: null };
    const { text } = await approval({ others: [other] });
    expect(text).toContain('Other requests for the same, last 30 days: 1');
    const busy = await approval({ others: [other], others_left: 20 });
    expect(busy.text).toContain('Other requests for the same, last 30 days: 21');
    expect(text).toContain('apr_other: 5.00 BRL, executed, asked on 1970-01-01');
  });

  it('leaves a fact that somebody else worded to the page, and keeps its label', async () => {
    for (const value of ['www.evil.example/x', 'ana@shop.example', 'CUS-1 pay.example', 'harmless']) {
      const { text, html } = await approval({
        facts: [
          { label: 'Customer', value, outside: true },
          { label: 'Order', value: 'ORD-1001' },
        ],
      });
      expect(text).toContain('  Customer: shown on the page only\n  Order: ORD-1001\n');
      expect(text + html).not.toContain(value);
    }
  });

  it('tells a tool that shows no facts from facts that cannot be read', async () => {
    const { text } = await approval({ facts: [] });
    expect(text).toContain('says\n------------------------------\n  Other requests for the same, last 30 days: none\n');
    const unread = await approval({ facts: null });
    expect(unread.text).toContain('Facts: could not be read when this mail was written');
    expect(unread.text).not.toContain('Other requests');
  });

  it('names the application, the times in UTC, and the link once in each form', async () => {
    const { text, html } = await approval();
    expect(text).toContain('Application: Shop assistant');
    expect(text).toContain('Expires at: 2026-11-30 14:05 UTC');
    expect(text.split(LINK)).toHaveLength(2);
    expect(html.split(`href="${LINK}"`)).toHaveLength(2);
  });

  it('holds no free text of the agent', async () => {
    const words = 'Approve at once: https://evil.example';
    const { text, html, subject } = await approval({
      claimed: { amount_cents: 2590, currency: 'BRL', arguments: { order_id: 'ORD-1001', comment: words } },
    });
    expect(text + html + subject).not.toContain('evil');
    expect(text).toContain('Further arguments: 1, shown on the page only');
  });

  it('keeps an argument that is called like the amount but is another', async () => {
    const { text } = await approval({
      claimed: { amount_cents: 2590, currency: 'BRL', arguments: { amount_cents: 99_999, currency: 'USD' } },
    });
    expect(text).toContain('amount_cents: 99999');
    expect(text).toContain('currency: USD');
  });

  it('has a subject of fixed text and the id', async () => {
    const { subject } = await approval({
      caller_name: 'Another',
      claimed: { ...approvalView().claimed, amount_cents: 1 },
    });
    expect(subject).toBe('Toolgate: your decision is needed (apr_0f3e9c2ab7d84461b5a0c6e1d29f7a48)');
  });

  it('lets no character of a name become markup', async () => {
    const { html } = await approval({ caller_name: '<img src=x onerror="alert(1)">' });
    expect(html).not.toContain('<img');
    expect(html).toContain('&lt;img src=x onerror=&quot;alert(1)&quot;&gt;');
  });
});

describe('noticeMail', () => {
  it('says why it was refused, and the amount as a claim', async () => {
    const { subject, text } = await notice();
    expect(subject).toBe('Toolgate: an action above its limits was refused');
    expect(text).toContain('Why: The amount is above what one call may move (500.00 BRL).');
    expect(text.indexOf('Amount: 9900.00 BRL')).toBeGreaterThan(text.indexOf('What the agent claims, unchecked'));
  });

  it('holds no link', async () => {
    const { text, html } = await notice();
    expect(text).not.toContain('://');
    expect(html).not.toContain('href');
  });
});

describe('text and HTML', () => {
  it.each(everyMail)('state the same facts in %s', async (_what, make) => {
    const mail = await make();
    expect(factsOfText(mail).length).toBeGreaterThan(3);
    expect(factsOfHtml(mail)).toEqual(factsOfText(mail));
  });

  it.each(everyMail)('have the same sentences in %s', async (_what, make) => {
    const mail = await make();
    const sentences = mail.text.split('\n').filter((line) => /^\S.*\.$/.test(line));
    const html = convert(mail.html, { wordwrap: false });
    expect(sentences.length).toBeGreaterThan(1);
    expect(sentences.filter((sentence) => !html.includes(sentence))).toEqual([]);
  });
});

describe('decidedMail', () => {
  it('says who need do nothing any more, and holds no link', async () => {
    const task = { kind: 'decided', to: 'bo@shop.test', approval_id: 'apr_1', caller_name: 'Shop', at: 0 } as const;
    const { subject, text, html } = await decidedMail({ ...task, isRejected: true });
    expect(subject).toBe('Toolgate: decided by another approver (apr_1)');
    expect(text).toContain('Another approver rejected the request below.');
    expect(text + html).not.toMatch(/https?:|<a /);
  });
});
