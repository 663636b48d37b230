/** The approver's part of the demo, through the real mail and the real page: no door that a person does not have. */
import { setTimeout as sleep } from 'node:timers/promises';
import { answerOf } from './answer.ts';
import type { LocalWorker } from './local-worker.ts';

const MAIL_LIMIT_MS = 20_000;

/** The link in the mail about that approval. */
export async function linkInMail(worker: Pick<LocalWorker, 'mails' | 'url'>, approvalId: string): Promise<string> {
  const link = new RegExp(`${worker.url}/approvals/${approvalId}\\?t=[A-Za-z0-9_.-]+`);
  for (const deadline = Date.now() + MAIL_LIMIT_MS; Date.now() < deadline; await sleep(200)) {
    for (const { text } of await worker.mails()) {
      const [found] = link.exec(text) ?? [];
      if (found !== undefined) return found;
    }
  }
  throw new Error('the mail did not arrive');
}

/** What the form of the page sends back of the facts that it shows. */
export async function shownOnPage(link: string): Promise<string> {
  const page = await (await answerOf(link)).text();
  return /name="shown" value="([0-9a-f.]+)"/.exec(page)?.[1] ?? '';
}

/** Opens the page, types the phrase it asks for, sends the form. */
export async function approveOnPage(link: string, phrase: string): Promise<void> {
  const shown = await shownOnPage(link);
  const answer = await answerOf(link, {
    method: 'POST',
    redirect: 'manual',
    headers: { Origin: new URL(link).origin },
    body: new URLSearchParams({ decision: 'approve', phrase, note: '', shown }),
  });
  if (answer.status !== 303) throw new Error(`the page answered ${answer.status}`);
}
