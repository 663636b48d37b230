/** An attack on an approver who mistypes: another session refunds the same order between the page and its correction. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { parkedRefund } from '../support/approver.ts';
import { withoutAlarms } from '../support/inside.ts';
import { APPROVAL, mailedLink, submit, visit } from '../support/reached.ts';
import { ledgerOf, newAgent, outcomeOf, refund } from '../support/session.ts';

beforeEach(() => {
  withoutAlarms();
  vi.spyOn(console, 'log').mockReturnValue();
});
afterEach(() => vi.restoreAllMocks());

/** As a browser sends the form back: with what the page itself hid in it. */
const hidden = (text: string): string => /name="shown" value="([^"]*)"/.exec(text)?.[1] ?? 'none';

it('is told of a refund that came in meanwhile before anything moves, however often the form is corrected', async () => {
  const parked = await parkedRefund();
  const { link } = await mailedLink(parked);
  let page = await visit(link);
  const other = await newAgent({ confirm_above_cents: 50_000 });
  expect(outcomeOf(await other.call('refund_order', refund(parked.order)))).toMatchObject({ code: 'OK' });
  const moved = { refunded_cents: 2_590, applied: 1, voids: 0 };

  for (const typo of [{ phrase: '2590' }, { decision: '' }, { note: 'x'.repeat(501) }]) {
    page = await submit(link, { ...APPROVAL, ...typo, shown: hidden(page.text) });
    expect(page.status).toBe(422);
  }
  page = await submit(link, { ...APPROVAL, shown: hidden(page.text) });
  expect(page.status).toBe(409);
  expect(page.text).toContain('when you opened the page');
  expect(await ledgerOf(parked.order)).toEqual(moved);

  expect((await submit(link, { ...APPROVAL, shown: hidden(page.text) })).status).toBe(303);
  expect(await ledgerOf(parked.order)).toEqual({ ...moved, refunded_cents: 5_180, applied: 2 });
});
