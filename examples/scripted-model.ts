/**
 * A model that says what was recorded, one response a request, over HTTP on this machine: point your provider's SDK at it
 * and test your own loop without a network. It does not look at what it is asked; your test does (`requests`).
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';

export async function scriptedModel(responses: readonly object[]) {
  const requests: unknown[] = [];
  const server = createServer((request, response) => {
    void json(request).then((body) => {
      const next = responses[requests.length];
      requests.push(body);
      // Not 5xx: SDKs try those again.
      response.writeHead(next === undefined ? 400 : 200, { 'Content-Type': 'application/json' });
      response.end(JSON.stringify(next ?? { error: { message: 'The script has no more responses.' } }));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    /** The bodies of all requests so far. */
    requests,
    async stop(): Promise<void> {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Takes recorded responses through your own loop; gives what the loop came to, and all that it asked the model. */
export async function replay<Result>(
  responses: readonly object[],
  loop: (url: string) => Promise<Result>,
): Promise<{ result: Result; requests: readonly unknown[] }> {
  const model = await scriptedModel(responses);
  try {
    return { result: await loop(model.url), requests: model.requests };
  } finally {
    await model.stop();
  }
}
