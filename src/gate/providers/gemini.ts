/** Gemini generateContent: `functionCall` parts in, `functionResponse` parts out, to stand in one user content. */
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts';
import {
  argumentsAsObject,
  itemsOf,
  membersOf,
  optionalItemsOf,
  pairedBy,
  stringOr,
  type Provider,
} from './provider.ts';

export const gemini: Provider = {
  name: 'gemini',
  takes: 'candidates[0].content or parts[]',

  decode: (body) =>
    partsIn(body)
      ?.map((part) => membersOf(part)['functionCall'])
      .filter((call) => call !== undefined && call !== null)
      .map((call) => {
        const members = membersOf(call);
        return {
          id: stringOr(members['id'], null),
          name: stringOr(members['name'], ''),
          arguments: argumentsAsObject(members['args']),
          echo: {},
        };
      }) ?? null,

  result: (call, { ok, text }) => ({
    functionResponse: {
      ...pairedBy('id', call),
      name: call.name,
      response: ok ? { output: text } : { error: text },
    },
  }),

  // `parametersJsonSchema` takes JSON Schema as it is; `parameters` would take an OpenAPI subset.
  tools: (definitions) => [
    {
      functionDeclarations: definitions.map(({ name, description, inputSchema }) => ({
        name,
        description,
        parametersJsonSchema: inputSchema,
      })),
    },
  ],
};

/** A candidate that was stopped (safety, length) comes without content or parts: it proposes nothing. */
function partsIn(body: JsonObject): JsonValue[] | null {
  const candidate = itemsOf(body['candidates'])?.[0];
  if (candidate === undefined || !isJsonObject(candidate)) return itemsOf(body['parts']);
  const content = candidate['content'] ?? {};
  return isJsonObject(content) ? optionalItemsOf(content['parts']) : null;
}
