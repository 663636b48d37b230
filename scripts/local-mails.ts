/** The mails of a local Worker: wrangler keeps them instead of sending, and shows them on a path of its own. */
import * as z from 'zod';

const MAILS_PATH = '/cdn-cgi/local/explorer/api/local/email/sending';

/** Lists what was sent; with `?email_id=<messageId>` it is one mail, whole. */
export const mailsUrl = (workerUrl: string): string => `${workerUrl}${MAILS_PATH}`;

const LOOK_LIMIT_MS = 5_000;

const listed = z.object({ messageId: z.string() });
const whole = z.object({ to: z.array(z.string()), subject: z.string(), text: z.string(), html: z.string() });

export type LocalMail = z.output<typeof whole>;

/** All mails since the Worker started, in the order in which wrangler lists them; none where its list hangs, as it does now and then. */
export async function localMails(workerUrl: string): Promise<LocalMail[]> {
  try {
    return await mailsOf(workerUrl);
  } catch (error) {
    if (error instanceof DOMException && error.name === 'TimeoutError') return [];
    throw error;
  }
}

async function mailsOf(workerUrl: string): Promise<LocalMail[]> {
  const list = z.object({ result: z.array(listed) }).parse(await getJson(`${mailsUrl(workerUrl)}?per_page=100`));
  const details = list.result.map(async ({ messageId }) => {
    const answer = await getJson(`${mailsUrl(workerUrl)}?email_id=${encodeURIComponent(messageId)}`);
    return z.object({ result: whole }).parse(answer).result;
  });
  return Promise.all(details);
}

async function getJson(url: string): Promise<unknown> {
  const answer = await fetch(url, { signal: AbortSignal.timeout(LOOK_LIMIT_MS) });
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}`);
  return answer.json();
}
