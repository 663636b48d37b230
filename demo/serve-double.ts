/** Serves a double over real HTTP on loopback, with faults on the way there and back that a test scripts one by one. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/**
 * What becomes of one request: `lost`, its connection is dropped before it is done, or `lost after` it; `reset`, the connection
 * is reset; `hangs`, it is never answered; `doubled`, it arrives twice; `late`, it is done so many ms after its connection was
 * dropped; `answer`, it is answered so instead, or `answer after` it was done.
 */
export type HttpFault =
  | { kind: 'lost' | 'lost after' | 'reset' | 'reset after' | 'hangs' | 'hangs after' | 'doubled' }
  | { kind: 'late'; ms: number }
  | { kind: 'answer' | 'answer after'; status: number; body: string };

export type DoubleServer = {
  url: string;
  /** Faults of the next requests to a route such as `POST /v1/refunds` whose address or body holds `about`, in order. */
  plan(route: string, about: string, ...faults: HttpFault[]): void;
  /** While set, every request meets it, such as a 503 of a system that is down. */
  always: HttpFault | null;
  stop(): Promise<void>;
};

export async function serveDouble(handle: (request: Request) => Promise<Response>): Promise<DoubleServer> {
  const planned: { route: string; about: string; fault: HttpFault }[] = [];
  const server = createServer((incoming, outgoing) => void serve(incoming, outgoing));
  const double: DoubleServer = {
    url: '',
    plan: (route, about, ...faults) => void planned.push(...faults.map((fault) => ({ route, about, fault }))),
    always: null,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };

  function planFor({ method, url }: Request, body: string): HttpFault | undefined {
    const route = `${method} ${new URL(url).pathname}`;
    const place = planned.findIndex((each) => each.route === route && `${url} ${body}`.includes(each.about));
    return place === -1 ? undefined : planned.splice(place, 1)[0]?.fault;
  }

  async function serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const request = await requestOf(incoming, double.url);
    const arrive = (): Promise<Response> => handle(request.clone());
    const fault = double.always ?? planFor(request, await request.clone().text());
    switch (fault?.kind) {
      case undefined:
        return answer(outgoing, await arrive());
      case 'lost':
        return void outgoing.destroy();
      case 'lost after':
        await arrive();
        return void outgoing.destroy();
      case 'reset':
        return void incoming.socket.resetAndDestroy();
      case 'reset after':
        await arrive();
        return void incoming.socket.resetAndDestroy();
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
