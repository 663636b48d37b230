import type Anthropic from '@anthropic-ai/sdk';
import type { Gate } from './toolgate.ts';

/** Goes on until the model proposes no more calls; the results of one message go back as one message. */
export async function runAnthropic(
  anthropic: Anthropic,
  gate: Gate,
  messages: Anthropic.MessageParam[],
): Promise<string> {
  const tools = await gate.tools<Anthropic.Tool>('anthropic');
  for (let turn = 0; turn < 20; turn += 1) {
    const message = await anthropic.messages.create({ model: 'claude-sonnet-5', max_tokens: 4_096, messages, tools });
    messages.push({ role: 'assistant', content: message.content });
    const content = await gate.answer<Anthropic.ToolResultBlockParam>('anthropic', message);
    if (content.length === 0) return message.content.map((block) => (block.type === 'text' ? block.text : '')).join('');
    messages.push({ role: 'user', content });
  }
  throw new Error('The model did not come to an end.');
}
