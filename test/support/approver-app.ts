/** The Worker's HTTP surface over a session object that a test plays, as an approver with a good link meets it. */
import { convert } from 'html-to-text';
import { expect } from 'vitest';
import { app } from './tools.ts';
import { signApprovalToken, signSessionToken, type ApprovalClaims } from '../../src/gate/auth/tokens.ts';
import { readConfig, type Config } from '../../src/gate/env.ts';
import type { DecisionAnswer, DecisionRequest, LinkProof, ViewAnswer } from '../../src/gate/session/rpc.ts';
import { approvalView } from './approval-view.ts';

export const ORIGIN = 'https://toolgate.test';

const variables = {
  PUBLIC_URL: ORIGIN,
  ADMIN_TOKEN: 'a'.repeat(64),
  TOOLGATE_SECRET: 'b'.repeat(64),
  MAIL_FROM: 'gate@toolgate.test',
};

export function configOf(changes: Partial<typeof variables> = {}): Config {
  const reading = readConfig({ ...variables, ...changes });
  if (!reading.ok) throw new Error('the variables are not good');
  return reading.config;
}

export const proof: LinkProof = { approval_id: approvalView().id, approver: 1, bits: '0123456789abcdef'.repeat(2) };

/** A good token of {@link proof} but for `changes`. */
export const approvalToken = (changes: Partial<ApprovalClaims> = {}, config = configOf()): Promise<string> =>
  signApprovalToken(config, {
    object: 'e'.repeat(64),
    approver: proof.approver,
    bits: proof.bits,
    expiresAt: Date.now() + 60_000,
    ...changes,
  });

export const sessionToken = (): Promise<string> =>
  signSessionToken(configOf(), { caller: 'c'.repeat(16), session: 's', uid: 'u', expiresAt: Date.now() + 60_000 });

export type PlayedApproval = { view?: ViewAnswer | Error; decide?: DecisionAnswer };

const formType = { 'content-type': 'application/x-www-form-urlencoded' };

/** `asked` keeps what reached the object, in order. */
export function approverApp({ view = { view: approvalView() }, decide }: PlayedApproval = {}) {
  const asked: { object: string; method: 'view' | 'decide'; of: LinkProof | DecisionRequest }[] = [];
  const session = (object: string) => ({
    async view(of: LinkProof) {
      asked.push({ object, method: 'view', of });
      if (view instanceof Error) throw view;
      return view;
    },
    async decide(of: DecisionRequest) {
      asked.push({ object, method: 'decide', of });
      return decide ?? { decided: 'approved' };
    },
  });
  const bindings = { ...variables, SESSION: { getByName: session } };
  const ask = async (path: string, init: RequestInit = {}): Promise<Response> =>
    app.request(`${ORIGIN}${path}`, init, bindings);
  const goodPath = async (): Promise<string> => `/approvals/${proof.approval_id}?t=${await approvalToken()}`;
  return {
    asked,
    ask,
    goodPath,
    get: async (method = 'GET') => ask(await goodPath(), { method }),
    /** Posts the body as the page's own form would, but for `headers`. */
    post: async (body: string | Record<string, string>, headers: Record<string, string> = {}) =>
      ask(await goodPath(), {
        method: 'POST',
        headers: { origin: ORIGIN, ...formType, ...headers },
        body: typeof body === 'string' ? body : String(new URLSearchParams(body)),
      }),
  };
}

/** The headers of docs/specification.md#the-page-and-the-decision, exactly; returns the nonce. */
export function expectPageHeaders({ headers }: Response): string {
  const policy = headers.get('content-security-policy') ?? '';
  const [, nonce = ''] =
    /^default-src 'none'; style-src 'nonce-([A-Za-z0-9+/=]{22,})'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'$/.exec(
      policy,
    ) ?? [];
  expect(nonce, policy).not.toBe('');
  expect(headers.get('referrer-policy')).toBe('strict-origin');
  expect(headers.get('x-frame-options')).toBe('DENY');
  expect(headers.get('x-content-type-options')).toBe('nosniff');
  expect(headers.get('cache-control')).toBe('no-store');
  expect(headers.get('x-robots-tag')).toBe('noindex');
  expect([...headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
  return nonce;
}

export const readable = (html: string): string => convert(html, { wordwrap: false, preserveNewlines: false });
