/** The tools a session may use, as a provider's request takes them: `GET /v1/tools` (docs/specification.md#tool-definitions). */
import { Hono } from 'hono';
import * as z from 'zod';
import { definitionFormats } from '../../providers/index.ts';
import { neutral } from '../../providers/neutral.ts';
import { refuseQuery } from '../shared/body.ts';
import type { HttpEnv } from '../shared/context.ts';
import { agentTools, authenticateAgent, refuseCredential } from '../shared/credentials.ts';

/** Strict: a misspelled name must not answer with another format as if it had been understood. */
export const ToolsQuery = z.strictObject({ provider: z.enum([...definitionFormats.keys()]).optional() });

export const tools = new Hono<HttpEnv>().get('/', async (c) => {
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
