/** Definitions of no provider's: what `GET /v1/tools` shows a host that writes its own request. */
import type { DefinitionFormat } from './provider.ts';

export const neutral: DefinitionFormat = {
  name: 'neutral',
  tools: (definitions) =>
    definitions.map(({ name, description, inputSchema }) => ({ name, description, parameters: inputSchema })),
};
