/** Serves a double over real HTTP on loopback, with faults on the way there and back that a test scripts one by one. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** What becomes of one request. `late`: it is done so many ms after its connection was dropped. */
export type HttpFault =
  | { kind: 'lost' | 'lost after' | 'hangs' | 'hangs after' | 'doubled' }
  | { kind: 'late'; ms: number }
  | { kind: 'answer' | 'answer after'; status: number; body: string };

export type DoubleServer = {
  url: string;
  /** Faults of the next requests to a route such as `POST /v1/refunds`, in order. */
  plan(route: string, ...faults: HttpFault[]): void;
  /** While set, every request meets it. */
  always: HttpFault | null;
  stop(): Promise<void>;
};

export async function serveDouble(handle: (request: Request) => Promise<Response>): Promise<DoubleServer> {
  const planned = new Map<string, HttpFault[]>();
  const server = createServer((incoming, outgoing) => void serve(incoming, outgoing));
  const double: DoubleServer = {
    url: '',
    plan: (route, ...faults) => void planned.set(route, [...(planned.get(route) ?? []), ...faults]),
    always: null,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };

  async function serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const request = await requestOf(incoming, double.url);
    const arrive = (): Promise<Response> => handle(request.clone());
    const fault = double.always ?? planned.get(`${request.method} ${new URL(request.url).pathname}`)?.shift();
    switch (fault?.kind) {
      case undefined:
        return answer(outgoing, await arrive());
      case 'lost':
        return void outgoing.destroy();
      case 'lost after':
        await arrive();
        return void outgoing.destroy();
      case 'hangs':
        return;
      case 'hangs after':
        return void (await arrive());
      case 'doubled':
        await arrive();
        return answer(outgoing, await arrive());
      case 'late':
        setTimeout(() => void arrive(), fault.ms);
        return void outgoing.destroy();
      case 'answer after':
        await arrive();
        return answer(outgoing, new Response(fault.body, { status: fault.status }));
      case 'answer':
        return answer(outgoing, new Response(fault.body, { status: fault.status }));
    }
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  double.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return double;
}

async function requestOf(incoming: IncomingMessage, url: string): Promise<Request> {
  const body = (await text(incoming)) || null;
  const headers = Object.entries(incoming.headers).flatMap(([name, value]): [string, string][] =>
    typeof value === 'string' ? [[name, value]] : [],
  );
  return new Request(`${url}${incoming.url ?? ''}`, { method: incoming.method ?? 'GET', headers, body });
}

async function answer(outgoing: ServerResponse, response: Response): Promise<void> {
  outgoing.writeHead(response.status, { 'content-type': response.headers.get('content-type') ?? 'text/plain' });
  outgoing.end(await response.text());
}
