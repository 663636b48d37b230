import { describe, expect, it } from 'vitest';
import {
  ORIGIN,
  approvalToken,
  approverApp,
  configOf,
  expectPageHeaders,
  proof,
  readable,
  sessionToken,
} from '../../support/approver-app.ts';

const filled = { decision: 'approve', phrase: '25.90', note: '', shown: '0123456789abcdef' };
const withoutNonce = (html: string): string => html.replace(/nonce="[^"]*"/, '');

describe('an approval link that is opened', () => {
  it('shows the page and asks the object that the token names', async () => {
    const approver = approverApp();
    const response = await approver.get();
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/html; charset=UTF-8');
    const nonce = expectPageHeaders(response);
    const html = await response.text();
    expect(html).toMatch(/^<!DOCTYPE html><html lang="en">/);
    expect(html.match(/<style[^>]*>/g)).toEqual([`<style nonce="${nonce}">`]);
    expect(readable(html)).toContain('REFUND ORDER: 25.90 BRL');
    expect(approver.asked).toEqual([{ object: 'e'.repeat(64), method: 'view', of: proof }]);
  });

  it('has another nonce each time', async () => {
    const approver = approverApp();
    const [first, second] = [expectPageHeaders(await approver.get()), expectPageHeaders(await approver.get())];
    expect(first).not.toBe(second);
  });

  it('answers HEAD with the same headers and no body, and decides nothing', async () => {
    const approver = approverApp();
    const response = await approver.get('HEAD');
    expect(response.status).toBe(200);
    expectPageHeaders(response);
    expect(await response.text()).toBe('');
    expect(approver.asked.map(({ method }) => method)).toEqual(['view']);
  });

  it.each(['OPTIONS', 'PUT', 'PATCH', 'DELETE'])('refuses %s without asking the session', async (method) => {
    const approver = approverApp();
    const response = await approver.get(method);
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe('GET, HEAD, POST');
    expect(response.headers.get('content-type')).toBe('application/problem+json');
    expect(approver.asked).toEqual([]);
  });

  it('holds no script and nothing that another server is asked for', async () => {
    const html = await (await approverApp().get()).text();
    expect(html).not.toMatch(/<script|<img|<link|<iframe|\son[a-z]+=|\s(?:src|action)=|url\(|@import|https?:/i);
  });

  it('says in HTML that the object cannot be reached', async () => {
    const response = await approverApp({ view: new Error('the object is gone') }).get();
    expect(response.status).toBe(503);
    expectPageHeaders(response);
    expect(readable(await response.text())).toContain('Open the link from the mail again in a minute');
  });
});

describe('a bad approval link', () => {
  const path = (token: string, id = proof.approval_id): string => `/approvals/${id}?t=${token}`;
  const badPaths: [string, () => Promise<string>][] = [
    ['without a token', async () => `/approvals/${proof.approval_id}`],
    ['with an empty token', async () => path('')],
    ['with another text as token', async () => path('letmein')],
    ['with two tokens', async () => `${path(await approvalToken())}&t=${await approvalToken()}`],
    ['with a token of an agent', async () => path(await sessionToken())],
    ['with a token that has expired', async () => path(await approvalToken({ expiresAt: Date.now() - 1_000 }))],
    [
      'with a token of another secret',
      async () => path(await approvalToken({}, configOf({ TOOLGATE_SECRET: 'c'.repeat(64) }))),
    ],
    [
      'with a token of another deployment',
      async () => path(await approvalToken({}, configOf({ PUBLIC_URL: 'https://other.test' }))),
    ],
    ['with a token cut short', async () => path((await approvalToken()).slice(0, -1))],
    ['with an id that none can be', async () => path(await approvalToken(), 'apr_1%0d%0ax')],
  ];

  it.each(badPaths)('is the same page and reaches no object: %s', async (_what, make) => {
    const approver = approverApp();
    const known = await approverApp({ view: { refused: 'bad_link' } }).get();
    const page = withoutNonce(await known.text());
    expect(known.status).toBe(404);
    for (const init of [{}, { method: 'POST', headers: { origin: ORIGIN }, body: 'decision=approve' }]) {
      const response = await approver.ask(await make(), init);
      expect(response.status).toBe(404);
      expectPageHeaders(response);
      expect(withoutNonce(await response.text())).toBe(page);
    }
    expect(approver.asked).toEqual([]);
  });

  it('is that page too where the object refuses a posted decision', async () => {
    const response = await approverApp({ decide: { refused: 'bad_link' } }).post(filled);
    expect(response.status).toBe(404);
    expectPageHeaders(response);
  });

  it('is that page too where what was posted is no form', async () => {
    const response = await approverApp({ view: { refused: 'bad_link' } }).post('{}', {
      'content-type': 'application/json',
    });
    expect(response.status).toBe(404);
  });
});
