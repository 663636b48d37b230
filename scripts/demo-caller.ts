/** A caller with an approver, and one open session of it: what a person needs to try a local Worker. */
import * as z from 'zod';
import { tools } from '../src/tools/index.ts';
import { askJson } from './answer.ts';
import type { LocalWorker } from './local-worker.ts';

const DEMO_CALLER = {
  name: 'Demo shop',
  allowed_tools: tools.map(({ name }) => name),
  approvers: ['approver@example.com'],
};

export type Demo = { apiKey: string; token: string };

/** Throws with the status and body of whatever is refused. */
export async function openDemo(
  { url, adminToken }: Pick<LocalWorker, 'url' | 'adminToken'>,
  caller: object = DEMO_CALLER,
  opening: object = {},
): Promise<Demo> {
  const { api_key } = z
    .object({ api_key: z.string() })
    .parse(await askJson(`${url}/admin/callers`, adminToken, caller));
  const { token } = z
    .object({ token: z.string() })
    .parse(await askJson(`${url}/v1/sessions`, api_key, { customer_id: 'CUS-1', ...opening }));
  return { apiKey: api_key, token };
}
