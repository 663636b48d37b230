/**
 * Requests to the APIs that tools declare. Each has a fixed origin from a variable, a limit of time, a limit of size, and
 * follows no redirect: the credential and the arguments must not leave for an address that an answer names.
 */
import { sha256Hex } from '../canonical.ts';
import { UpstreamError, type Answer, type Backend, type Backends, type Outgoing } from '../ports.ts';
import { assertPath, JUDGING, objectIn, wireKey } from './backend.ts';

const MAX_ANSWER_BYTES = 64 * 1024;

/** What the platform gives. `variables` are the Worker's; `loopback`: PUBLIC_URL is this machine. */
export type Surroundings = {
  variables: Readonly<Record<string, unknown>>;
  loopback: boolean;
  fetch: (url: string, init: RequestInit) => Promise<Response>;
  log: (entry: Record<string, unknown>) => void;
};

type Account = { origin: string; account: string; secret: string };

export function backendsWith({ variables, loopback, fetch, log }: Surroundings): Backends {
  const reported = new Set<string>();

  /** Null while a variable is missing or no fit origin; the log names it once. */
  function accountOf({ name, env }: Backend): Account | null {
    const [origin, account, secret] = [env.origin, env.account, env.secret].map((variable) => variables[variable]);
    const missing = Object.values(env).filter((variable) => !isText(variables[variable]));
    if (isText(origin) && !isFitOrigin(origin, loopback)) missing.push(env.origin);
    if (missing.length === 0 && isText(origin) && isText(account) && isText(secret))
      return { origin: new URL(origin).origin, account, secret };
    if (!reported.has(name)) log({ event: 'backend_not_configured', backend: name, variables: missing });
    reported.add(name);
    return null;
  }

  async function request(backend: Backend, url: string, init: RequestInit & { headers: Record<string, string> }) {
    const account = accountOf(backend);
    if (account === null) throw new UpstreamError('not configured', false);
    const headers = { accept: 'application/json', ...init.headers, ...backend.authorize(account.secret) };
    return readAnswer(await fetch(`${account.origin}${url}`, { ...init, headers, redirect: 'manual' }));
  }

  return {
    place(backend) {
      const account = accountOf(backend);
      return account === null ? null : sha256Hex(JSON.stringify([account.origin, account.account]));
    },
    api: (backend, signal) => ({
      async get(path) {
        assertPath(path);
        const answer = await request(backend, path, { method: 'GET', headers: {}, signal }).catch(unreachable);
        if (!isTelling(answer))
          throw new UpstreamError(
            `the backend answered ${answer.status}`,
            answer.status === 429 || answer.status >= 500,
          );
        return answer;
      },
    }),
    send: (backend, outgoing, effectKey, signal) =>
      request(backend, outgoing.path, {
        method: outgoing.method,
        headers: headersOf(backend, outgoing, effectKey),
        body: outgoing.body,
        signal,
      }),
  };
}

function headersOf({ key }: Backend, { type }: Outgoing, effectKey: string): Record<string, string> {
  return {
    ...(type === null ? {} : { 'content-type': type }),
    ...(key?.header === undefined ? {} : { [key.header]: wireKey(effectKey, key) }),
  };
}

/** Whether an answer says something of what was asked for: a readable 2xx, or a status that judges the request. */
const isTelling = ({ status, json }: Answer): boolean =>
  status >= 200 && status < 300 ? json !== null : JUDGING.has(status);

function unreachable(error: unknown): never {
  if (error instanceof UpstreamError) throw error;
  throw new UpstreamError('the backend did not answer', true);
}

/** The body is read once and to the end, or cancelled; a larger one counts as unreadable. */
async function readAnswer(response: Response): Promise<Answer> {
  const { status, body } = response;
  let bytes = 0;
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += chunk.byteLength;
    if (bytes > MAX_ANSWER_BYTES) return { status, json: null };
    text += decoder.decode(chunk, { stream: true });
  }
  return { status, json: objectIn(text + decoder.decode()) };
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

/** Names that resolve to this machine or its network wherever they are asked (RFC 6761, RFC 6762, RFC 8375). */
const PRIVATE_NAME = /(?:^|\.)(?:localhost|local|internal|home\.arpa)$/;

/**
 * An https origin of a dotted DNS name: no address in any spelling, because an address may be of the private network. While
 * the gate itself runs on this machine, a backend may, too, and over plain http.
 */
function isFitOrigin(text: string, loopback: boolean): boolean {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || url.href !== `${url.origin}/`) return false;
  const { protocol, hostname } = url;
  if (loopback && /^(?:localhost|127\.0\.0\.1|\[::1\])$/.test(hostname))
    return protocol === 'http:' || protocol === 'https:';
  return protocol === 'https:' && /\.[a-z][a-z0-9-]*$/.test(hostname) && !PRIVATE_NAME.test(hostname);
}
