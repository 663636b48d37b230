import { describe, expect, it } from 'vitest';
import type { DecisionAnswer } from '../../../src/gate/session/rpc.ts';
import { digestsOf } from '../../../src/gate/tool/facts.ts';
import { approvalView, orderFacts } from '../../support/approval-view.ts';
import { approverApp, expectPageHeaders, proof, readable } from '../../support/approver-app.ts';

const shown = digestsOf(orderFacts());
const filled = { decision: 'approve', phrase: '25.90', note: '', shown };

describe('a posted decision', () => {
  it('is passed on as it was typed, and answered with a redirect to the link', async () => {
    const approver = approverApp();
    const path = await approver.goodPath();
    const response = await approver.ask(path, {
      method: 'POST',
      headers: { origin: 'https://toolgate.test', 'content-type': 'application/x-www-form-urlencoded' },
      body: String(new URLSearchParams({ ...filled, note: ' fine\r\nby me ' })),
    });
    expect(response.status).toBe(303);
    expect(response.headers.get('location')).toBe(path);
    expectPageHeaders(response);
    expect(approver.asked).toEqual([
      {
        object: 'e'.repeat(64),
        method: 'decide',
        of: {
          ...proof,
          decision: 'approve',
          phrase: '25.90',
          note: 'fine\nby me',
          shown,
          request_id: response.headers.get('x-request-id'),
        },
      },
    ]);
  });

  it.each([
    [{ decision: 'reject' }, { decision: 'reject', phrase: '', note: null, shown: '' }],
    [
      { decision: 'APPROVE', phrase: 'x' },
      { decision: null, phrase: 'x', note: null, shown: '' },
    ],
    [
      { ...filled, shown: '' },
      { decision: 'approve', phrase: '25.90', note: null, shown: '' },
    ],
    [{ ...filled, shown: ' 0123456789ABCDEF.x ' }, { shown: ' 0123456789ABCDEF.x ' }],
    [
      { ...filled, approver: '0', bits: 'x' },
      { ...proof, decision: 'approve' },
    ],
  ])('reads %j', async (form, expected) => {
    const approver = approverApp();
    await approver.post(form);
    expect(approver.asked[0]?.of).toMatchObject(expected);
  });

  it.each([
    undefined,
    '',
    'null',
    'https://evil.test',
    'http://toolgate.test',
    'https://toolgate.test:8443',
    'https://toolgate.test/',
    'https://toolgate.test.evil.test',
    'HTTPS://TOOLGATE.TEST',
  ])('is refused from the origin %j', async (origin) => {
    const approver = approverApp();
    const headers = {
      'content-type': 'application/x-www-form-urlencoded',
      ...(origin === undefined ? {} : { origin }),
    };
    const response = await approver.ask(await approver.goodPath(), {
      method: 'POST',
      headers,
      body: String(new URLSearchParams(filled)),
    });
    expect(response.status).toBe(403);
    expectPageHeaders(response);
    expect(approver.asked).toEqual([]);
  });

  it.each([
    ['application/json', {}],
    ['multipart/form-data; boundary=x', {}],
    ['text/plain', {}],
    ['application/x-www-form-urlencoded; charset=utf-16', {}],
    ['application/x-www-form-urlencoded', { 'content-encoding': 'gzip' }],
  ])('is refused as %s %j', async (type, headers) => {
    const approver = approverApp();
    const response = await approver.post(filled, { 'content-type': type, ...headers });
    expect(response.status).toBe(415);
    expectPageHeaders(response);
    expect(approver.asked.map(({ method }) => method)).toEqual(['view']);
  });

  it('is told of a form that breaks off, and is no outage', async () => {
    const approver = approverApp();
    const body = new ReadableStream({ pull: (controller) => controller.error(new Error('Network connection lost.')) });
    const headers = { 'content-type': 'application/x-www-form-urlencoded', origin: 'https://toolgate.test' };
    const init = { method: 'POST', headers, body, duplex: 'half' } as RequestInit;
    const response = await approver.ask(await approver.goodPath(), init);
    expect(response.status).toBe(422);
    expectPageHeaders(response);
    expect(approver.asked.map(({ method }) => method)).toEqual(['view']);
  });

  it('is taken up to 64 KiB and refused beyond', async () => {
    const form = String(new URLSearchParams(filled));
    const padded = (bytes: number): string => `${form}&x=${'a'.repeat(bytes - form.length - 3)}`;
    expect((await approverApp().post(padded(65_536))).status).toBe(303);
    const response = await approverApp().post(padded(65_537));
    expect(response.status).toBe(413);
    expectPageHeaders(response);
  });

  it.each(['decision=reject', 'phrase=25.90', 'note=x', 'shown=x'])('is refused with %s twice', async (again) => {
    const approver = approverApp();
    const response = await approver.post(`${String(new URLSearchParams(filled))}&${again}`);
    expect(response.status).toBe(422);
    expect(approver.asked.map(({ method }) => method)).toEqual(['view']);
  });

  it.each([
    ['500 characters', 'x'.repeat(500)],
    ['500 emoji', '🙂'.repeat(500)],
    ['500 characters with line breaks as a browser sends them', 'x\r\n'.repeat(250)],
  ])('takes a note of %s', async (_what, note) => {
    expect((await approverApp().post({ ...filled, note })).status).toBe(303);
  });

  it('refuses a longer note, and keeps it', async () => {
    const approver = approverApp();
    const note = `${'x'.repeat(500)}!`;
    const response = await approver.post({ ...filled, note });
    const html = await response.text();
    expect(response.status).toBe(422);
    expect(html).toContain(`>${note}</textarea>`);
    expect(html).toMatch(/<textarea id="note"[^>]* aria-invalid="true"/);
    expect(approver.asked.map(({ method }) => method)).toEqual(['view']);
  });
});

describe('a decision that is not taken', () => {
  const again = async (decide: DecisionAnswer, form: Record<string, string> = {}) => {
    const response = await approverApp({ decide }).post({ ...filled, note: 'Asked <Bo>', ...form });
    expectPageHeaders(response);
    return { status: response.status, headers: response.headers, html: await response.text() };
  };
  const view = approvalView();

  it.each([
    ['wrong_phrase', { phrase: '2590' }, 'phrase'],
    ['no_choice', { decision: '' }, 'approve'],
  ] as const)('shows the page again on %s, with the note and a link to the field', async (refused, form, field) => {
    const { status, html } = await again({ refused, view }, form);
    expect(status).toBe(422);
    expect(html).toContain('<title>Error: Refund order, 25.90 BRL · Toolgate</title>');
    expect(html).toContain(`<a href="#${field}">`);
    expect(html).toContain('aria-invalid="true"');
    expect(html).toContain('>Asked &lt;Bo&gt;</textarea>');
  });

  it('names both problems at once', async () => {
    const { html } = await again({ refused: 'no_choice', view }, { decision: '', phrase: '25.9' });
    expect(html).toContain('<a href="#approve">Choose whether you approve or reject</a>');
    expect(html).toContain('<a href="#phrase">Type the amount as it is shown: 25.90</a>');
  });

  it.each([
    [{ refused: 'wrong_phrase' }, 422],
    [{ refused: 'no_choice' }, 422],
    [{ refused: 'unreadable' }, 503],
  ] as const)('takes no fact for seen that changed while the form is corrected: %j', async (refusal, expected) => {
    const changed = approvalView({ facts: orderFacts({ 'Refunded so far': '25.90 BRL' }) });
    const { status, html } = await again({ ...refusal, view: changed });
    expect(status).toBe(expected);
    expect(html).toContain(`name="shown" value="${shown}"`);
    expect(html).not.toContain('<mark>');
  });

  it('marks the facts that have changed and no others, and asks for the choice and the phrase again', async () => {
    const facts = orderFacts({ 'Refunded so far': '25.90 BRL', 'Still refundable': '94.10 BRL' });
    const { status, html } = await again({ refused: 'stale', view: approvalView({ facts }) });
    expect(status).toBe(409);
    expect([...html.matchAll(/<mark>(.*?)<\/mark>/gs)].map(([, marked = '']) => readable(marked))).toEqual([
      '25.90 BRL (changed since you opened the page)',
      '94.10 BRL (changed since you opened the page)',
    ]);
    expect(html).toContain(`name="shown" value="${digestsOf(facts)}"`);
    expect(html).not.toMatch(/<input[^>]* checked/);
    expect(html).toMatch(/name="phrase" value=""/);
    expect(html).toContain('>Asked &lt;Bo&gt;</textarea>');
  });

  it.each([
    [{ status: 'rejected', decided_by: 0 }, 'already decided by another approver'],
    [{ status: 'executed', decided_by: 1 }, 'already decided by you'],
    [{ status: 'expired' }, 'The time to decide is over'],
    [{ status: 'failed' }, 'does not wait for a decision any more'],
  ] as const)('shows what became of it: %j', async (changes, words) => {
    const { status, html } = await again({ refused: 'already_decided', view: approvalView(changes) });
    expect(status).toBe(409);
    expect(readable(html)).toContain(words);
    expect(html).not.toContain('<form');
  });

  it('is 409 under a pause, says once that it still waits, and keeps everything that was typed', async () => {
    const { status, html } = await again({ refused: 'paused', view: approvalView({ paused: true }) });
    expect(status).toBe(409);
    expect(readable(html).match(/operator (has )?paused/gi)).toHaveLength(1);
    expect(readable(html)).toContain('The request still waits, and its time runs. You may reject it now.');
    expect(html).toMatch(/value="approve" checked/);
    expect(html).toMatch(/name="phrase" value="25.90"/);
    expect(html).toContain('>Asked &lt;Bo&gt;</textarea>');
  });

  it('keeps everything that was typed where the ledger cannot be read', async () => {
    const { status, headers, html } = await again({
      refused: 'unreadable',
      view: approvalView({ facts: null }),
    });
    expect(status).toBe(503);
    expect(headers.get('retry-after')).toBe('30');
    expect(readable(html)).toContain('The request still waits');
    expect(html).toMatch(/value="approve" checked/);
    expect(html).toMatch(/name="phrase" value="25.90"/);
    expect(html).toContain('>Asked &lt;Bo&gt;</textarea>');
    expect(html).toContain(`name="shown" value="${shown}"`);
  });
});
