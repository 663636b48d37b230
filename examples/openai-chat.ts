import type OpenAI from 'openai';
import type { Gate } from './toolgate.ts';

/** Goes on until the model proposes no more calls. Also for the many servers that speak OpenAI's older API. */
export async function runOpenAIChat(
  openai: OpenAI,
  gate: Gate,
  messages: OpenAI.ChatCompletionMessageParam[],
): Promise<string> {
  const tools = await gate.tools<OpenAI.ChatCompletionFunctionTool>('openai-chat');
  for (let turn = 0; turn < 20; turn += 1) {
    const completion = await openai.chat.completions.create({ model: 'gpt-5.4', messages, tools });
    const message = completion.choices[0]?.message;
    if (message === undefined) throw new Error('The model said nothing.');
    messages.push(message);
    const results = await gate.answer<OpenAI.ChatCompletionToolMessageParam>('openai-chat', completion);
    if (results.length === 0) return message.content ?? '';
    messages.push(...results);
  }
  throw new Error('The model did not come to an end.');
}
