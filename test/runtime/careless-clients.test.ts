import { Client, StreamableHTTPClientTransport, type OAuthClientProvider } from '@modelcontextprotocol/client';
import { exports } from 'cloudflare:workers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parkedRefund } from '../support/approver.ts';
import { moveOn, standStill } from '../support/effects.ts';
import { mailedLink, ORIGIN, sendAs, tokenOf, visit } from '../support/reached.ts';
import { newAgent } from '../support/session.ts';

beforeEach(standStill);
afterEach(moveOn);

/** A client that tries OAuth when its token is refused, and a token that is no longer good. */
const stale: OAuthClientProvider = {
  redirectUrl: 'http://localhost/callback',
  clientMetadata: { redirect_uris: ['http://localhost/callback'], client_name: 'agent' },
  clientInformation: () => undefined,
  saveClientInformation: () => undefined,
  tokens: () => ({ access_token: 'stale', token_type: 'Bearer' }),
  saveTokens: () => undefined,
  redirectToAuthorization: () => undefined,
  saveCodeVerifier: () => undefined,
  codeVerifier: () => 'verifier',
};

describe('an MCP client', () => {
  it('with a stale token is told to use a session token, not that an OAuth error is invalid', async () => {
    const transport = new StreamableHTTPClientTransport(new URL(`${ORIGIN}/mcp`), {
      authProvider: stale,
      fetch: (url, init) => exports.default.fetch(new Request(url, init)),
    });
    const connecting = new Client({ name: 'agent', version: '1' }).connect(transport);
    await expect(connecting).rejects.toThrow('There is no authorization server. Use a session token');
  });

  it('is challenged with invalid_token where it sent a token, and only there', async () => {
    const challenge = async (headers: Record<string, string>): Promise<string | null> =>
      (await visit('/mcp', { method: 'POST', headers })).headers.get('www-authenticate');
    expect(await challenge({ authorization: 'Bearer stale' })).toBe('Bearer realm="toolgate", error="invalid_token"');
    expect(await challenge({})).toBe('Bearer realm="toolgate"');
  });

  it.each(['/.well-known/oauth-protected-resource', '/.well-known/oauth-authorization-server'])(
    'finds no authorization server at %s',
    async (path) => {
      const { status, headers, text } = await visit(path);
      expect(status).toBe(404);
      expect(headers.get('content-type')).toBe('application/problem+json');
      expect(JSON.parse(text)).toMatchObject({ status: 404, error: 'invalid_request' });
    },
  );

  it.each([
    ['params: null', { params: null }],
    ['cursor: null', { params: { cursor: null } }],
    ['cursor: ""', { params: { cursor: '' } }],
  ])('may list tools with %s', async (_, more) => {
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/list', ...more };
    const { body } = await sendAs(await tokenOf(await newAgent()), '/mcp', message);
    expect((body['result'] as { tools: unknown[] }).tools).toHaveLength(3);
  });

  it('never gets back an id that it did not send', async () => {
    const message = '{"jsonrpc":"2.0","id":9007199254740993,"method":"tools/list"}';
    const { body } = await sendAs(await tokenOf(await newAgent()), '/mcp', message);
    expect(body).not.toHaveProperty('id');
    expect(body['error']).toMatchObject({ code: -32_600 });
  });
});

describe('one trailing slash', () => {
  it.each([
    ['POST', '/v1/calls/', { tool: 'calculator', arguments: { expression: '1' } }],
    ['POST', '/v1/calls/openai/', { output: [] }],
    ['POST', '/mcp/', { jsonrpc: '2.0', id: 1, method: 'ping' }],
  ])('is taken as none by %s %s', async (_, path, body) => {
    const token = await tokenOf(await newAgent({ allowed_tools: ['calculator'] }));
    expect((await sendAs(token, path, body)).status).toBe(200);
  });

  it.each(['/healthz/', '/readyz/', '/docs/', '/openapi.json/', '/llms.txt/'])(
    'is taken as none by GET %s',
    async (path) => {
      expect((await visit(path)).status).toBe(200);
    },
  );

  it('is one and not two', async () => {
    expect((await visit('/healthz//')).status).toBe(404);
  });
});

describe('an approval link that a mail client changed', () => {
  it.each([
    ['a trailing slash', (link: string) => link.replace('?', '/?')],
    ['an upper-case path', (link: string) => link.replace('/approvals/', '/APPROVALS/')],
    ['an upper-case id', (link: string) => link.replace('apr_', 'APR_')],
  ])('by %s is answered with the page for bad links', async (_, change) => {
    const { link } = await mailedLink(await parkedRefund());
    const { status, headers, text } = await visit(change(link));
    expect({ status, type: headers.get('content-type') }).toEqual({ status: 404, type: 'text/html; charset=UTF-8' });
    expect(headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(text).toContain('link');
  });
});
