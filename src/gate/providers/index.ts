/** The wire formats. ADD A PROVIDER = one file and one line in `providers`. */
import { anthropic } from './anthropic.ts';
import { geminiInteractions } from './gemini-interactions.ts';
import { gemini } from './gemini.ts';
import { mcp } from './mcp.ts';
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

const providersByName = new Map<string, Provider>(providers.map((provider) => [provider.name, provider]));

/** All that `GET /v1/tools?provider=` knows: the providers, and MCP. */
export const definitionFormats: ReadonlyMap<string, DefinitionFormat> = new Map<string, DefinitionFormat>(
  [...providers, mcp].map((format) => [format.name, format]),
);

/** Exact look-up of an untrusted name: a `Map`, so that `constructor` is no provider. */
export const providerNamed = (name: string): Provider | undefined => providersByName.get(name);
