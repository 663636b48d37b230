import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/gate/json.ts';
import { definitionFormats } from '../../../src/gate/providers/index.ts';
import { allTools, toolNamed } from '../../support/tools.ts';
import { agentApp } from '../../support/agent-app.ts';

/** The app over a session that may use these tools; null: its token is no good any more. */
const allowing = (names: string[] | null) =>
  agentApp({ call: () => Promise.reject(new Error('no call is made here')), tools: async () => names });

const toolsIn = async (response: Response): Promise<JsonObject[]> => {
  expect(response.status).toBe(200);
  const { tools } = await response.json<{ tools: JsonObject[] }>();
  return tools;
};

describe('GET /v1/tools', () => {
  it('shows the allowed tools, sorted by name', async () => {
    const { get } = await allowing(['refund_order', 'get_order']);
    expect(await toolsIn(await get('/v1/tools'))).toStrictEqual(
      ['get_order', 'refund_order'].map((name) => {
        const tool = toolNamed(name);
        return { name, description: tool?.description, parameters: tool?.inputSchema };
      }),
    );
  });

  it.each([...definitionFormats.keys()])('shows them as %s takes them, alike from call to call', async (provider) => {
    const { get } = await allowing(allTools.map(({ name }) => name));
    const { get: again } = await allowing(allTools.map(({ name }) => name).toReversed());
    const first = await get(`/v1/tools?provider=${provider}`);
    const text = await first.clone().text();
    expect(await toolsIn(first)).toStrictEqual(definitionFormats.get(provider)?.tools(allTools));
    expect(await (await again(`/v1/tools?provider=${provider}`)).text()).toBe(text);
  });

  it.each(['neutral', 'constructor', '__proto__', 'OPENAI', ''])('knows no provider %j', async (provider) => {
    const { get } = await allowing(['get_order']);
    const response = await get(`/v1/tools?provider=${provider}`);
    expect(response.status).toBe(422);
    expect(await response.json()).toMatchObject({
      detail: expect.stringMatching(/^query: provider must be one of .*"openai"/) as string,
    });
  });

  it.each(['/v1/tools?privider=openai', '/v1/approvals/apr_x?privider=1'])(
    'names the unknown parameter of the query %s',
    async (path) => {
      const { get } = await allowing(['get_order']);
      const response = await get(path);
      expect(response.status).toBe(422);
      expect(await response.json()).toMatchObject({
        title: 'The request does not have the expected members',
        detail: 'query: privider is unknown; remove it',
      });
    },
  );

  it('shows a session that may use nothing an empty list', async () => {
    const { get } = await allowing([]);
    expect(await toolsIn(await get('/v1/tools'))).toStrictEqual([]);
  });

  it('passes over a name that the registry no longer has', async () => {
    const { get } = await allowing(['constructor', 'get_order', 'retired_tool']);
    expect((await toolsIn(await get('/v1/tools'))).map(({ name }) => name)).toStrictEqual(['get_order']);
  });

  it('does not take the token of an ended session', async () => {
    const { get } = await allowing(null);
    expect((await get('/v1/tools')).status).toBe(401);
  });

  it('does not take another credential', async () => {
    const { get } = await allowing(['get_order']);
    expect((await get('/v1/tools', 'Bearer none')).status).toBe(401);
  });
});
