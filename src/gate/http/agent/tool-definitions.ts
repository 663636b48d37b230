/** The tools a session may use, as a provider's request takes them: `GET /v1/tools` (docs/specification.md#tool-definitions). */
import { Hono } from 'hono';
import * as z from 'zod';
import { definitionFormats, neutral } from '../../providers/index.ts';
import { refuseQuery } from '../shared/body.ts';
import type { HttpEnv } from '../shared/context.ts';
import { agentTools, authenticateAgent, refuseCredential } from '../shared/credentials.ts';
import { anyObject, describeRoute, json } from '../shared/operation.ts';

/** Strict: a misspelled name must not answer with another format as if it had been understood. */
export const ToolsQuery = z.strictObject({ provider: z.enum([...definitionFormats.keys()]).optional() });

const listTools = describeRoute(() => {
  const definition = anyObject("A definition as the provider's request takes it.");
  const definitions = z.strictObject({ tools: z.array(definition).describe('Sorted by name.') });
  return {
    id: 'listTools',
    summary: 'The definitions of the tools that the session may use',
    description:
      "Without `provider`: name, description and the arguments' JSON Schema as `parameters`. With it: the `tools` of that provider's request, byte-identical from call to call.",
    credential: 'agent',
    query: ToolsQuery,
    answers: { 200: json('The definitions.', definitions.meta({ id: 'ToolDefinitions' })) },
    problems: ['invalid-body'],
  };
});

export const tools = new Hono<HttpEnv>().get('/', listTools, async (c) => {
  const agent = await authenticateAgent(c);
  if (agent instanceof Response) return agent;
  const allowed = await agentTools(c, agent);
  if (allowed === null) return refuseCredential(c, 'session_not_live');
  const query = ToolsQuery.safeParse(c.req.query());
  if (!query.success) return refuseQuery(c, query.error);
  const format = definitionFormats.get(query.data.provider ?? '') ?? neutral;
  // In the registry's order, which is that of the names: equal bytes from call to call keep a provider's prompt cache.
  return c.json({ tools: format.tools(c.get('registry').tools.filter(({ name }) => allowed.includes(name))) });
});
