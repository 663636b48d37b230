/**
 * A loopback proxy that adds a credential, for clients that cannot. It replaces its own host and origin in a request by the
 * server's, and leaves foreign ones as they are.
 */
import { once } from 'node:events';
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Proxy = { url: string; stop(): Promise<void> };

/** `server` is an http origin. */
export async function startAuthorizingProxy(server: string, token: string): Promise<Proxy> {
  const proxy = createServer();
  proxy.listen(0, 'localhost');
  await once(proxy, 'listening');
  const own = new URL(`http://localhost:${(proxy.address() as AddressInfo).port}`);
  proxy.on('request', (asked, answer) => passOn(asked, answer, { own, target: new URL(server), token }));
  return {
    url: own.origin,
    stop: async () => {
      proxy.close();
      proxy.closeAllConnections();
      await once(proxy, 'close');
    },
  };
}

type Way = { own: URL; target: URL; token: string };

function passOn(asked: IncomingMessage, answer: ServerResponse, { own, target, token }: Way): void {
  const { host, origin } = asked.headers;
  const headers = {
    ...asked.headers,
    authorization: `Bearer ${token}`,
    ...(host === own.host ? { host: target.host } : {}),
    ...(origin === own.origin ? { origin: target.origin } : {}),
  };
  const { hostname, port } = target;
  const onward = request({ hostname, port, path: asked.url, method: asked.method, headers }, (answered) => {
    answer.writeHead(answered.statusCode ?? 502, answered.headers);
    answered.pipe(answer);
  });
  onward.on('error', () => answer.destroy());
  asked.pipe(onward);
}
