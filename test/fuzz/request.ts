/** A request as it is bent: everything that can differ, each by itself. */
import { base64url } from 'jose';
import type { JsonValue } from '../../src/gate/json.ts';
import { ORIGIN } from './target.ts';

export type Body =
  | { kind: 'none' }
  | { kind: 'json'; value: JsonValue }
  | { kind: 'form'; fields: [string, string][] }
  | { kind: 'bytes'; bytes: Uint8Array; inPieces: boolean };

export type Asked = {
  /** The route, for the report. */
  route: string;
  method: string;
  path: string;
  query: [string, string][];
  headers: [string, string][];
  body: Body;
};

export const header = ({ headers }: Asked, name: string): string | null =>
  headers.find(([each]) => each.toLowerCase() === name)?.[1] ?? null;

export const withHeader = (asked: Asked, name: string, value: string | null): Asked => ({
  ...asked,
  headers: [
    ...asked.headers.filter(([each]) => each.toLowerCase() !== name),
    ...(value === null ? [] : [[name, value] as [string, string]]),
  ],
});

export function bytesOf(body: Body): Uint8Array | null {
  switch (body.kind) {
    case 'none':
      return null;
    case 'json':
      return new TextEncoder().encode(unmarked(JSON.stringify(body.value)));
    case 'form':
      return new TextEncoder().encode(String(new URLSearchParams(body.fields)));
    case 'bytes':
      return body.bytes;
  }
}

/** Text that is a whole JSON value once the marks of {@link asWritten} are taken off it. */
const WRITTEN = /"\u00a7([\w-]*)\u00a7"/g;

/** Stands for a text that JSON.stringify would never write: a number in another notation, a name twice. */
export const asWritten = (text: string): string => `\u00a7${base64url.encode(text)}\u00a7`;

const unmarked = (text: string): string =>
  text.replaceAll(WRITTEN, (_, kept: string) => new TextDecoder().decode(base64url.decode(kept)));

function streamed(bytes: Uint8Array): ReadableStream<Uint8Array> {
  const size = Math.max(1, Math.ceil(bytes.length / 7));
  let sent = 0;
  return new ReadableStream({
    pull(controller) {
      if (sent >= bytes.length) return controller.close();
      controller.enqueue(bytes.slice(sent, sent + size));
      sent += size;
    },
  });
}

/** Null where this process cannot even write it down: no client could send it either. */
export function toRequest(asked: Asked): Request | null {
  const { method, path, query, headers, body } = asked;
  const search = query.length === 0 ? '' : `?${query.map(([name, value]) => `${name}=${value}`).join('&')}`;
  const bytes = bytesOf(body);
  const hasBody = bytes !== null && method !== 'GET' && method !== 'HEAD';
  try {
    const init = { method, headers: headers.map(([name, value]): [string, string] => [name, value]) };
    if (!hasBody) return new Request(`${ORIGIN}${path}${search}`, init);
    const sent = body.kind === 'bytes' && body.inPieces ? streamed(bytes) : bytes;
    return new Request(`${ORIGIN}${path}${search}`, { ...init, body: sent, duplex: 'half' } as RequestInit);
  } catch {
    return null;
  }
}

/** For the report: enough to see what was sent. */
export function shown(asked: Asked): string {
  const bytes = bytesOf(asked.body);
  const text = bytes === null ? '' : new TextDecoder().decode(bytes);
  const query = asked.query.map(([name, value]) => `${name}=${value}`).join('&');
  return `${asked.method} ${asked.path}?${query} ${JSON.stringify(asked.headers)} ${text}`.slice(0, 2_000);
}

const bearer = (credential: string): [string, string] => ['authorization', `Bearer ${credential}`];
const JSON_TYPE: [string, string] = ['content-type', 'application/json'];

export const get = (route: string, path: string, credential: string | null, query: [string, string][] = []): Asked => ({
  route,
  method: 'GET',
  path,
  query,
  headers: credential === null ? [] : [bearer(credential)],
  body: { kind: 'none' },
});

export const post = (route: string, path: string, credential: string, value: JsonValue): Asked => ({
  route,
  method: 'POST',
  path,
  query: [],
  headers: [bearer(credential), JSON_TYPE],
  body: { kind: 'json', value },
});

export const bodiless = (asked: Asked): Asked => ({
  ...asked,
  headers: asked.headers.slice(0, 1),
  body: { kind: 'none' },
});
