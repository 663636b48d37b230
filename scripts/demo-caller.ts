/** A caller with an approver, and one open session of it: what a person needs to try a local Worker. */
import * as z from 'zod';
import { answerOf } from './answer.ts';
import type { LocalWorker } from './local-worker.ts';

const DEMO_CALLER = {
  name: 'Demo shop',
  allowed_tools: [
    'calculator',
    'count_documents',
    'get_order',
    'lookup_document',
    'refund_order',
    'search_transactions',
  ],
  approvers: ['approver@example.com'],
};

export type Demo = { apiKey: string; token: string };

/** Throws with the status and body of whatever is refused. */
export async function openDemo({ url, adminToken }: Pick<LocalWorker, 'url' | 'adminToken'>): Promise<Demo> {
  const caller = z.object({ api_key: z.string() }).parse(await post(`${url}/admin/callers`, adminToken, DEMO_CALLER));
  const opening = { customer_id: 'CUS-1' };
  const session = z.object({ token: z.string() }).parse(await post(`${url}/v1/sessions`, caller.api_key, opening));
  return { apiKey: caller.api_key, token: session.token };
}

async function post(url: string, credential: string, body: object): Promise<unknown> {
  const headers = { Authorization: `Bearer ${credential}`, 'Content-Type': 'application/json' };
  const answer = await answerOf(url, { method: 'POST', headers, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`POST ${new URL(url).pathname} answered ${answer.status}: ${await answer.text()}`);
  return answer.json();
}
