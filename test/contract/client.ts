/** Requests to a Worker from outside, as operator, caller or agent. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startWorker, type LocalWorker } from '../../scripts/local-worker.ts';

export type Json = Record<string, unknown>;
export type Answer = { status: number; headers: Headers; text: string; json: Json };
export type Sent = { method?: string; credential?: string; body?: unknown; headers?: Record<string, string> };
export type Caller = { caller_id: string; api_key: string };
export type Session = { session_id: string; token: string; expires_at: string; policy: Json };
type Served = Pick<LocalWorker, 'url' | 'adminToken' | 'mails'>;

/** Orders of 120.00 BRL of CUS-1 in the shared Worker, one for each file that looks at what is refunded. */
export const ORDERS = { calls: 'ORD-2001', mcp: 'ORD-2002', openapi: 'ORD-2003', browser: 'ORD-2004' };

/** A Worker of the test's own. `start` may be that of another copy of the repository, or do more. */
export async function freshWorker(start = startWorker) {
  const folder = mkdtempSync(join(tmpdir(), 'toolgate-'));
  const worker = await start({ persistTo: folder, secretsFile: join(folder, 'secrets') });
  const stop = async (): Promise<void> => {
    await worker.stop();
    rmSync(folder, { recursive: true });
  };
  return { ...clientOf(worker), worker, stop };
}

/** Each request comes from another address, so that no test meets the failures that another one caused. */
let addresses = 0;
const newAddress = (): string => `2001:db8::${(addresses += 1).toString(16)}`;

export function clientOf(worker: Served) {
  /** A string and bytes are sent as they are, anything else as JSON. */
  async function send(path: string, { method, credential, body, headers }: Sent = {}): Promise<Answer> {
    const isWritten = body === undefined || typeof body === 'string' || body instanceof Uint8Array;
    const text = isWritten ? body : JSON.stringify(body);
    const response = await fetch(`${worker.url}${path}`, {
      method: method ?? (text === undefined ? 'GET' : 'POST'),
      redirect: 'manual',
      headers: {
        'CF-Connecting-IP': newAddress(),
        ...(credential === undefined ? {} : { Authorization: `Bearer ${credential}` }),
        ...(text === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(text === undefined ? {} : { body: text }),
    });
    const read = await response.text();
    const isJson = /^application\/(?:problem\+)?json/.test(response.headers.get('content-type') ?? '') && read !== '';
    return {
      status: response.status,
      headers: response.headers,
      text: read,
      json: isJson ? (JSON.parse(read) as Json) : {},
    };
  }

  async function made<T>(answer: Promise<Answer>): Promise<T> {
    const { status, json, text } = await answer;
    if (status !== 201) throw new Error(`not made: ${status} ${text}`);
    return json as T;
  }

  /** A caller with every tool and one approver, but for `changes`. */
  const newCaller = (changes: Json = {}): Promise<Caller> =>
    made(
      send('/admin/callers', {
        credential: worker.adminToken,
        body: {
          name: 'Shop',
          allowed_tools: ['calculator', 'get_order', 'refund_order'],
          approvers: ['ana@shop.test'],
          customer_scope: 'any',
          ...changes,
        },
      }),
    );

  const open = (caller: Caller, body: Json = {}): Promise<Answer> =>
    send('/v1/sessions', { credential: caller.api_key, body });

  return {
    worker,
    send,
    newCaller,
    open,
    newSession: async (body: Json = {}, caller?: Caller): Promise<Session> =>
      made(open(caller ?? (await newCaller()), body)),
    call: (token: string, body: Json, headers: Record<string, string> = {}): Promise<Answer> =>
      send('/v1/calls', { credential: token, body, headers }),
  };
}

export type Client = ReturnType<typeof clientOf>;
export type OwnClient = Awaited<ReturnType<typeof freshWorker>>;

/** The last part of a problem's type. */
export const slugOf = ({ json }: Answer): string => String(json['type']).replace(/^.*\//, '');
