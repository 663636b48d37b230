import fc from 'fast-check';
import { html } from 'hono/html';
import { convert } from 'html-to-text';
import { describe, expect, it } from 'vitest';
import { ApprovalBody, titleOf, type ApprovalPage } from '../../../src/gate/http/approver/approval-page-view.tsx';
import type { ApprovalView } from '../../../src/gate/session/rpc.ts';
import type { Fact } from '../../../src/gate/tool/define-tool.ts';
import { digestsOf } from '../../../src/gate/tool/facts.ts';
import { approvalView, orderFacts, type ViewChanges } from '../../support/approval-view.ts';

const toolChanged = { ok: false, refusal: { code: 'TOOL_CHANGED' } } as const;

type Changes = ViewChanges & { again?: ApprovalPage['again'] };

const pageOf = ({ again, ...changes }: Changes = {}): ApprovalPage => ({
  view: approvalView(changes),
  approver: 0,
  ...(again === undefined ? {} : { again }),
});
const htmlOf = async (changes: Changes = {}): Promise<string> =>
  (await html`${<ApprovalBody page={pageOf(changes)} />}`).toString();
const selectors = [
  { selector: 'h1', options: { uppercase: false } },
  { selector: 'h2', options: { uppercase: false } },
];
/** As it is read, in one line. */
const textOf = async (changes: Changes = {}): Promise<string> =>
  convert((await htmlOf(changes)).replaceAll('</dt>', '</dt> '), { wordwrap: false, selectors }).replaceAll(
    /\s+/g,
    ' ',
  );

/** The terms and what they say, of the section of that id. */
function factsOf(html: string, section: string): Record<string, string> {
  const [, body = ''] = new RegExp(`<section [^>]*aria-labelledby="${section}">(.*?)</section>`, 's').exec(html) ?? [];
  return Object.fromEntries(
    [...body.matchAll(/<dt>(.*?)<\/dt><dd[^>]*>(.*?)<\/dd>/gs)].map(([, term = '', said = '']) => [
      convert(term),
      convert(said, { wordwrap: false }),
    ]),
  );
}

const HOSTILE = `</bdi><script>alert(1)</script>" onclick="x" https://evil.test/a ana@evil.test \u202E<b>${'x'.repeat(300)}`;

describe('ApprovalBody', () => {
  it('says what the tool shows of the system of record, and only that, under its heading', async () => {
    const facts: Fact[] = [
      { label: 'Balance', value: '10.00 BRL' },
      { label: 'Holder', value: 'Paula <b>Souza</b>', outside: true },
      { label: 'Opened in', value: '<2019' },
    ];
    const html = await htmlOf({ facts });
    expect(factsOf(html, 'ledger')).toEqual({
      Balance: '10.00 BRL',
      Holder: 'Paula Souza',
      'Opened in': '<2019',
    });
    expect(html).toContain('&lt;2019');
  });

  it('sets its own figures in figures, and what somebody else worded in text', async () => {
    const html = await htmlOf({
      facts: [
        { label: 'Balance', value: '10.00 BRL' },
        { label: 'Holder', value: 'Paula', outside: true },
      ],
    });
    expect(html).toContain('<dt>Balance</dt><dd class="figure"><bdi>10.00 BRL</bdi></dd>');
    expect(html).toContain('<dt>Holder</dt><dd><bdi>Paula</bdi></dd>');
  });

  it('marks a fact that is not as it was shown, by its label and its value', async () => {
    const before: Fact[] = [
      { label: 'Total', value: '120.00 BRL' },
      { label: 'Left', value: '120.00 BRL' },
      { label: 'Holder', value: 'Paula', outside: true },
    ];
    const now: Fact[] = [
      { label: 'Total', value: '120.00 BRL' },
      { label: 'Rest', value: '120.00 BRL' },
      { label: 'Holder', value: 'Ana', outside: true },
    ];
    const html = await htmlOf({ facts: now, again: { why: 'stale', shown: digestsOf(before) } });
    expect(factsOf(html, 'ledger')).toEqual({
      Total: '120.00 BRL',
      Rest: '120.00 BRL (changed since you opened the page)',
      Holder: 'Ana (changed since you opened the page)',
    });
    expect(html).toContain('<mark><bdi>Ana</bdi> (changed since you opened the page)</mark>');
    expect(await htmlOf({ facts: now })).not.toContain('<mark>');
  });

  it('says what the agent claims, and only that, under its heading', async () => {
    expect(factsOf(await htmlOf(), 'claims')).toEqual({
      Amount: '25.90 BRL',
      'Order ID': 'ORD-1001',
      Reason: 'damaged',
    });
  });

  it('shows every argument of a tool without an amount', async () => {
    const claimed = {
      amount_cents: null,
      currency: null,
      arguments: { account_id: 'ACC-98124501', amount_cents: 5, options: { notify: true } },
    };
    expect(factsOf(await htmlOf({ claimed }), 'claims')).toEqual({
      'Account ID': 'ACC-98124501',
      'Amount cents': '5',
      Options: '{"notify":true}',
    });
  });

  it('names the tool and the amount in its one first heading and in the title', async () => {
    const html = await htmlOf();
    expect(html.match(/<h1>/g)).toHaveLength(1);
    expect(await textOf()).toContain('Refund order: 25.90 BRL');
    expect(titleOf(pageOf())).toBe('Your decision: Refund order, 25.90 BRL');
  });

  it('warns where the same amount was moved there already, or is asked for, while it can be decided', async () => {
    const other = {
      id: 'apr_other',
      status: 'executed',
      amount_cents: 2590,
      currency: 'BRL',
      opened_at: 0,
      note: null,
    };
    const refunded = 'The same amount was already moved here';
    expect(await textOf({ others: [{ ...other, status: 'pending' }, other] })).toContain(refunded);
    expect(await textOf({ others: [{ ...other, status: 'pending' }] })).toContain('is already asked for');
    for (const differs of [{ amount_cents: 2591 }, { currency: 'USD' }, { status: 'expired' }])
      expect(await textOf({ others: [{ ...other, ...differs }] })).not.toContain('The same amount');
    expect(await textOf({ status: 'executed', others: [other] })).not.toContain('The same amount');
  });

  it('warns where the same amount was rejected, with the reason', async () => {
    const other = { id: 'apr_other', status: 'rejected', amount_cents: 2590, currency: 'BRL', opened_at: 0 };
    const text = await textOf({ others: [{ ...other, note: 'The photo is of another lamp.' }] });
    expect(text).toContain('The same amount was rejected by a person here');
    expect(text).toContain('The reason: The photo is of another lamp.');
    expect(await textOf({ others: [{ ...other, note: null }] })).not.toContain('The reason');
  });

  it('shows an id that is a URI as it is, and a link in free text not', async () => {
    const claimed = { amount_cents: null, currency: null, arguments: { order: 'gid://shopify/Order/5123456790' } };
    expect(await textOf({ claimed: { ...claimed, bounded: ['order'] } })).toContain('gid://shopify/Order/5123456790');
    expect(await textOf({ claimed: { ...claimed, bounded: [] } })).toContain('[link]');
  });

  const other = {
    id: 'apr_other',
    status: 'executed',
    amount_cents: 500,
    currency: 'BRL',
    opened_at: Date.UTC(2026, 10, 12, 9, 30),
    note: null,
  };

  it('lists the other requests for the same', async () => {
    expect(await textOf({ others: [other] })).toContain(
      '5.00 BRL, executed asked at 2026-11-12 09:30 UTC, request apr_other',
    );
  });

  it('says how many requests it leaves out', async () => {
    expect(await textOf({ others: [other], others_left: 3 })).toMatch(/request apr_other \* 3 more, not shown/);
    expect(await textOf({ others: [other] })).not.toContain('not shown');
  });

  it('says that the system of record cannot be read instead of showing facts', async () => {
    const html = await htmlOf({ facts: null, others: [other] });
    expect(factsOf(html, 'ledger')).toEqual({});
    expect(html).toContain('It cannot be read right now.');
    expect(html).not.toContain('apr_other');
    expect(html).toContain('name="shown" value=""');
  });

  it('says that there is nothing to show where a tool shows no facts, and lists the other requests all the same', async () => {
    const text = await textOf({ facts: [], others: [other] });
    expect(text).toContain('Nothing more can be shown for this request.');
    expect(text).not.toContain('cannot be read');
    expect(text).toMatch(/other requests for the same, last 30 days \* 5\.00 BRL, executed/i);
    expect(await textOf({ facts: [] })).toMatch(/other requests for the same, last 30 days None\./i);
  });

  it.each([
    [{ status: 'approved', decided_by: 0, decided_at: 0 }, 'It was approved by you, at 1970-01-01 00:00 UTC'],
    [
      {
        ...{ status: 'executed', decided_by: 1, decided_at: 0, note: 'Photos seen' },
        result: { ok: true, replayed: false, data: { order_id: 'ORD-1001', refunded_cents: 2590 } },
      },
      'It was approved by another approver, at 1970-01-01 00:00 UTC. Note: Photos seen Order ID ORD-1001 Refunded 25.90 BRL',
    ],
    [
      { status: 'rejected', decided_by: 0, decided_at: 0, note: 'Already paid' },
      'It was rejected by you, at 1970-01-01 00:00 UTC, and is not done. Note: Already paid',
    ],
    [{ status: 'expired' }, 'Nobody decided before 2026-11-30 14:05 UTC, so it was not done.'],
    [
      { status: 'failed', decided_by: 0, decided_at: 0, note: 'Fine', result: toolChanged },
      'could not be carried out. Note: Fine The tool has changed since this was asked for, so it was not done. Ask for it anew. (TOOL_CHANGED)',
    ],
    [
      { status: 'failed', result: { ok: false, refusal: { code: 'WITHDRAWN' } } },
      'Not done An operator withdrew this action before it was decided, so it was not done. (WITHDRAWN)',
    ],
  ] satisfies [Changes, string][])('says what became of it, and asks no more: %j', async (changes, words) => {
    expect(await textOf(changes)).toContain(words);
    expect(await htmlOf(changes)).not.toContain('<form');
  });

  it.each([
    [{ status: 'pending' }, 'It cannot be approved until the pause is lifted. You may reject it now.'],
    [{ status: 'approved', decided_by: 0 }, 'It is carried out if the pause is lifted within an hour of the approval'],
  ] as const)('says that an operator has paused it, and what that means: %j', async (changes, words) => {
    const paused = await textOf({ ...changes, paused: true });
    expect(paused).toContain('An operator has paused this');
    expect(paused).toContain(words);
    expect(paused.includes('Send decision')).toBe(changes.status === 'pending');
    expect(await textOf(changes)).not.toContain('paused');
  });

  it.each(['executed', 'rejected', 'expired', 'failed'] as const)(
    'says no more of a pause once it is %s',
    async (status) => {
      expect(await textOf({ status, decided_by: 0, paused: true })).not.toContain('paused');
    },
  );

  it('shows what was already done under the same arguments', async () => {
    const applied_before = [{ attempt: 1, answer: { order_id: 'ORD-1001', refunded_cents: 2590 } }];
    const text = await textOf({ applied_before });
    expect(text).toContain('The same was already done once If you approve, it is done once more');
    expect(text).toContain('Refunded 25.90 BRL');
  });

  it.each([
    ['caller_name', { caller_name: HOSTILE }],
    ['session_id', { session_id: HOSTILE }],
    ['id', { id: HOSTILE }],
    ['fact from outside', { facts: [{ label: 'Holder', value: HOSTILE, outside: true }] }],
  ] satisfies [string, Changes][])('shows a hostile %s as inert text', async (_what, changes) => {
    const html = await htmlOf(changes);
    expect(html).not.toMatch(/<script|onclick="|<b>|evil\.test|\u202E/);
    expect(html).not.toContain('x'.repeat(121));
  });

  it('lets no outside string change anything but itself', async () => {
    const skeleton = (html: string): string => html.replaceAll(/<bdi>.*?<\/bdi>/gs, '<bdi></bdi>');
    const claimedBy = (comment: string): ApprovalView['claimed'] => ({
      bounded: [],
      amount_cents: null,
      currency: null,
      arguments: { comment },
    });
    const holder = (value: string): Fact[] => [{ label: 'Holder', value, outside: true }];
    const texts = (text: string): Changes => ({
      ...{ claimed: claimedBy(text), facts: holder(text), caller_name: text, note: text },
      status: 'rejected',
    });
    const harmless = skeleton(await htmlOf(texts('x')));
    const pieces = fc.constantFrom(
      '</bdi>',
      '<',
      '>',
      '"',
      "'",
      '&',
      '<a href=',
      'https://',
      '\u202E',
      '\u0000',
      '🙂',
      'a',
    );
    const hostile = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(pieces).map((parts) => parts.join('')),
    );
    await fc.assert(
      fc.asyncProperty(hostile, async (text) => {
        const html = await htmlOf(texts(text));
        expect(skeleton(html)).toBe(harmless);
        for (const [, shown = ''] of html.matchAll(/<bdi>(.*?)<\/bdi>/gs))
          expect(shown).not.toMatch(/[<>]|:\/\/|[\0-\x1f\u202E]/);
      }),
      { numRuns: 50 },
    );
  });
});

describe('the form on the page', () => {
  it('has nothing chosen or filled in, and one button that says neither answer', async () => {
    const html = await htmlOf();
    expect(html).not.toMatch(/<input[^>]* checked/);
    expect(html.match(/<button[^>]*>.*?<\/button>/g)).toEqual(['<button type="submit">Send decision</button>']);
    expect([...html.matchAll(/type="radio"[^>]*value="([^"]*)"/g)].map(([, value]) => value)).toEqual([
      'approve',
      'reject',
    ]);
    expect(html).toContain('name="phrase" value=""');
    expect(html).toContain(`<input type="hidden" name="shown" value="${digestsOf(orderFacts())}"/>`);
  });

  it('does not repeat the token of the link', async () => {
    expect(await htmlOf()).toContain('<form class="card" method="post" autocomplete="off" novalidate');
    expect(await htmlOf()).not.toMatch(/<form[^>]* action=/);
  });

  it('has a label for every field that is seen, and ids that are unique', async () => {
    const problems: ApprovalPage['again'] = {
      why: 'problems',
      problems: ['no_choice', 'wrong_phrase', 'note_too_long'],
    };
    const html = await htmlOf({ again: problems });
    const ids = [...html.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const [, name] of html.matchAll(/ (?:for|aria-labelledby)="([^"]*)"/g)) expect(ids).toContain(name);
    for (const [, names = ''] of html.matchAll(/ aria-describedby="([^"]*)"/g))
      for (const name of names.split(' ')) expect(ids).toContain(name);
    for (const [, id] of html.matchAll(/<a href="#([^"]*)"/g)) expect(ids).toContain(id);
    for (const [, id] of html.matchAll(/<(?:input type="text"|textarea) id="([^"]*)"/g))
      expect(html).toContain(`for="${id}"`);
    expect(html.match(/<label class="choice"><input type="radio"/g)).toHaveLength(2);
    expect(html).toMatch(/<fieldset role="radiogroup"[^>]*><legend>/);
  });

  it('asks for the end of the id where there is no amount', async () => {
    const claimed = { amount_cents: null, currency: null, arguments: {} };
    const text = await textOf({ claimed, phrase: '9f7a48' });
    expect(text).toContain('Type the end of the request to confirm');
    expect(text).toContain('The last 6 characters of the request are 9f7a48.');
  });
});
