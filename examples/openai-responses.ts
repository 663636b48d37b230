import type OpenAI from 'openai';
import type { Gate } from './toolgate.ts';

type Item = OpenAI.Responses.ResponseInputItem;

/** Goes on until the model proposes no more calls; `conversation` then holds all that was said. */
export async function runOpenAI(openai: OpenAI, gate: Gate, conversation: Item[]): Promise<string> {
  const tools = await gate.tools<OpenAI.Responses.FunctionTool>('openai');
  for (let turn = 0; turn < 20; turn += 1) {
    const response = await openai.responses.create({ model: 'gpt-5.4', input: conversation, tools });
    conversation.push(...(response.output as Item[]));
    const results = await gate.answer<OpenAI.Responses.ResponseInputItem.FunctionCallOutput>('openai', response);
    if (results.length === 0) return response.output_text;
    conversation.push(...results);
  }
  throw new Error('The model did not come to an end.');
}
