/** Gemini generateContent: reads `functionCall` parts, writes `functionResponse` parts for one user content. */
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts';
import {
  argumentsAsObject,
  incompleteBy,
  itemsOf,
  membersOf,
  optionalItemsOf,
  pairedBy,
  stringOr,
  type Marker,
  type Provider,
} from './provider.ts';

/** From "Generating content", FinishReason, and the Vertex AI values in the types of the SDK. */
const FINISH_REASON: Marker = {
  member: 'finishReason',
  complete: ['STOP'],
  incomplete: (
    'FINISH_REASON_UNSPECIFIED MAX_TOKENS SAFETY RECITATION LANGUAGE OTHER BLOCKLIST PROHIBITED_CONTENT ' +
    'SPII MALFORMED_FUNCTION_CALL UNEXPECTED_TOOL_CALL TOO_MANY_TOOL_CALLS MISSING_THOUGHT_SIGNATURE ' +
    'MALFORMED_RESPONSE IMAGE_SAFETY IMAGE_PROHIBITED_CONTENT IMAGE_RECITATION IMAGE_OTHER NO_IMAGE ' +
    'CONTINUATION'
  ).split(' '),
};

export const gemini: Provider = {
  name: 'gemini',
  takes: 'candidates[0].content or parts[]',

  decode: (body) =>
    partsIn(body)
      // The Python SDK serializes responses in snake case.
      ?.flatMap((part) => [membersOf(part)['functionCall'], membersOf(part)['function_call']])
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

  incomplete: (body) => {
    const holders = [membersOf(itemsOf(body['candidates'])?.[0]), body];
    return (
      incompleteBy(FINISH_REASON, ...holders) ?? incompleteBy({ ...FINISH_REASON, member: 'finish_reason' }, ...holders)
    );
  },

  result: (call, { ok, text }) => ({
    functionResponse: {
      ...pairedBy('id', call),
      name: call.name,
      response: ok ? { output: text } : { error: text },
    },
  }),

  // `parametersJsonSchema` accepts JSON Schema; `parameters` accepts only an OpenAPI subset.
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

/** A candidate that was stopped (safety, length) has no content or parts, so it proposes nothing. */
function partsIn(body: JsonObject): JsonValue[] | null {
  const candidate = itemsOf(body['candidates'])?.[0];
  if (candidate === undefined || !isJsonObject(candidate))
    return itemsOf(body['parts']) ?? (hasNoCandidate(body) ? [] : null);
  const content = candidate['content'] ?? {};
  return isJsonObject(content) ? optionalItemsOf(content['parts']) : null;
}

/** The response to a blocked prompt has only `promptFeedback`. */
function hasNoCandidate(body: JsonObject): boolean {
  const candidates = body['candidates'] ?? null;
  if (candidates !== null) return itemsOf(candidates)?.length === 0;
  return isJsonObject(body['promptFeedback'] ?? body['prompt_feedback'] ?? null);
}
