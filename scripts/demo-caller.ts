/** A caller with an approver, and one open session of it: what a person needs to try a local Worker. */
import * as z from 'zod';
import { GET_APPROVAL } from '../src/gate/tool/get-approval.ts';
import { answerOf, askJson } from './answer.ts';
import type { LocalWorker } from './local-worker.ts';

const description = z.object({ components: z.object({ schemas: z.record(z.string(), z.unknown()) }) });
const ARGUMENTS = '.arguments';

export type Demo = { apiKey: string; token: string };

/** Throws with the status and body of a refusal. */
export async function openDemo(
  { url, adminToken }: Pick<LocalWorker, 'url' | 'adminToken'>,
  caller?: object,
  opening: object = {},
): Promise<Demo> {
  const { api_key } = z
    .object({ api_key: z.string() })
    .parse(await askJson(`${url}/admin/callers`, adminToken, caller ?? (await callerOfAllTools(url))));
  const { token } = z
    .object({ token: z.string() })
    .parse(await askJson(`${url}/v1/sessions`, api_key, { customer_id: 'CUS-1', ...opening }));
  return { apiKey: api_key, token };
}

async function callerOfAllTools(url: string): Promise<object> {
  const { components } = description.parse(await (await answerOf(`${url}/openapi.json`)).json());
  const tools = Object.keys(components.schemas)
    .filter((name) => name.endsWith(ARGUMENTS))
    .map((name) => name.slice(0, -ARGUMENTS.length));
  return {
    name: 'Demo shop',
    // Risky tools bring it; a policy must not name it.
    allowed_tools: tools.filter((name) => name !== GET_APPROVAL),
    approvers: ['approver@example.com'],
  };
}
