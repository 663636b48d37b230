/** An approver with a keyboard, a browser and the link from the mail, against the Worker as it is served. */
import { existsSync } from 'node:fs';
import { chromium, type Browser, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { openDemo, type Demo } from '../../scripts/demo-caller.ts';
import { ORDERS } from './client.ts';
import { sharedWorker } from './shared-worker.ts';

const CHROMIUM = '/usr/bin/chromium';
/** WCAG 2.2, target size (enhanced), and the touch target of common platform guidelines. */
const MIN_TARGET_PX = 44;

describe.skipIf(!existsSync(CHROMIUM))('the approval page in a browser', () => {
  const { worker } = sharedWorker();
  let demo: Demo;
  let browser: Browser;

  beforeAll(async () => {
    demo = await openDemo(worker);
    browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] });
  });
  afterAll(() => browser.close());

  const agentGets = async (path: string, body?: object): Promise<Record<string, unknown>> => {
    const answer = await fetch(`${worker.url}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${demo.token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return answer.json<Record<string, unknown>>();
  };
  const refundedSoFar = async (): Promise<unknown> =>
    (
      (await agentGets('/v1/calls', { tool: 'get_order', arguments: { order_id: ORDERS.browser } }))['data'] as Record<
        string,
        unknown
      >
    )['refunded_cents'];

  /** The link of the mail about a new request for a refund. */
  async function askForRefund(amount_cents: number): Promise<string> {
    const args = { order_id: ORDERS.browser, amount_cents, currency: 'BRL', reason: 'damaged' };
    const outcome = await agentGets('/v1/calls', { tool: 'refund_order', arguments: args });
    const { id } = outcome['approval'] as { id: string };
    return vi.waitFor(async () => linkOf((await worker.mails()).find(({ subject }) => subject.includes(id))?.text), {
      timeout: 15_000,
      interval: 200,
    });
  }

  async function openPage(
    link: string,
    options: Parameters<Browser['newPage']>[0] = {},
  ): Promise<{ page: Page; complaints: string[] }> {
    const page = await browser.newPage(options);
    const complaints: string[] = [];
    page.on('console', (line) => complaints.push(line.text()));
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('requestfailed', (request) => complaints.push(request.url()));
    await page.goto(link);
    return { page, complaints };
  }

  it('is decided with only the keyboard, and not by an Enter that comes too early', async () => {
    const { page, complaints } = await openPage(await askForRefund(2590));
    const focused = page.locator(':focus');

    await page.keyboard.press('Tab');
    expect(await focused.getAttribute('id')).toBe('approve');
    expect(await page.locator(':checked').count()).toBe(0);
    await page.keyboard.press('Tab');
    expect(await focused.getAttribute('id')).toBe('phrase');
    await page.keyboard.type('25.90');
    await page.keyboard.press('Enter');

    await page.waitForSelector('[role=alert]');
    expect(await page.title()).toMatch(/^Error: /);
    expect(await refundedSoFar()).toBe(0);
    expect(await focused.getAttribute('role')).toBe('alert');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    expect(await focused.getAttribute('id')).toBe('approve');

    await page.keyboard.press('Space');
    await page.keyboard.press('Tab');
    expect(await focused.inputValue()).toBe('25.90');
    await page.keyboard.press('Tab');
    await page.keyboard.type('Photos seen.');
    await page.keyboard.press('Tab');
    expect(await focused.textContent()).toBe('Send decision');
    await page.keyboard.press('Enter');

    await page.waitForSelector('text=It was approved by you');
    expect(await page.locator('form').count()).toBe(0);
    expect(await refundedSoFar()).toBe(2590);
    // The browser notes the 422 itself; anything else would be a policy that the page does not keep.
    expect(complaints.filter((line) => !line.includes('422'))).toEqual([]);
    await page.close();
  });

  it('fits a phone in both colour schemes, with targets a thumb can hit', async () => {
    const link = await askForRefund(1000);
    for (const colorScheme of ['light', 'dark'] as const) {
      const { page, complaints } = await openPage(link, { viewport: { width: 390, height: 844 }, colorScheme });
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
      for (const target of await page.locator('label.choice, input[type=text], textarea, button').all())
        expect((await target.boundingBox())?.height).toBeGreaterThanOrEqual(MIN_TARGET_PX);
      const ground = String(await page.evaluate('getComputedStyle(document.body).backgroundColor'));
      expect(ground).toBe(colorScheme === 'light' ? 'rgb(243, 245, 248)' : 'rgb(14, 19, 25)');
      expect(complaints).toEqual([]);
      await page.close();
    }
  });

  it('stays usable at 400 % zoom, where the window is 320 px wide', async () => {
    const { page } = await openPage(await askForRefund(1500), { viewport: { width: 320, height: 256 } });
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(320);
    await page.close();
  });
});

function linkOf(text: string | undefined): string {
  const link = /http:\/\/\S+/.exec(text ?? '')?.[0];
  if (link === undefined) throw new Error('no mail yet');
  return link;
}
