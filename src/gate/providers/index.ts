/** The wire formats. To add a provider, add one file and one line in `providers`. */
import { anthropic } from './anthropic.ts';
import { geminiInteractions } from './gemini-interactions.ts';
import { gemini } from './gemini.ts';
import { ollama } from './ollama.ts';
import { openaiChat } from './openai-chat.ts';
import { openai } from './openai.ts';
import type { DefinitionFormat, Provider } from './provider.ts';

export const providers = [
  openai, //
  openaiChat,
  anthropic,
  gemini,
  geminiInteractions,
  ollama,
] as const satisfies readonly Provider[];

/** Definitions as MCP's `tools/list` returns them. MCP clients call through `/mcp`, not through a provider route. */
export const mcp: DefinitionFormat = {
  name: 'mcp',
  tools: (definitions) => definitions.map(({ name, description, inputSchema }) => ({ name, description, inputSchema })),
};

/** What `GET /v1/tools` returns to a host that writes its own request. */
export const neutral: DefinitionFormat = {
  name: 'neutral',
  tools: (definitions) =>
    definitions.map(({ name, description, inputSchema }) => ({ name, description, parameters: inputSchema })),
};

const providersByName = new Map<string, Provider>(providers.map((provider) => [provider.name, provider]));

/** The formats that `GET /v1/tools?provider=` accepts. */
export const definitionFormats: ReadonlyMap<string, DefinitionFormat> = new Map<string, DefinitionFormat>(
  [...providers, mcp].map((format) => [format.name, format]),
);

/** Exact look-up of an untrusted name. In a `Map`, `constructor` is not found. */
export const providerNamed = (name: string): Provider | undefined => providersByName.get(name);
