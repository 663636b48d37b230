import type { Message, Ollama, Tool } from 'ollama';
import type { Gate } from './toolgate.ts';

/** Goes on until the model proposes no more calls. */
export async function runOllama(ollama: Ollama, gate: Gate, messages: Message[]): Promise<string> {
  const tools = await gate.tools<Tool>('ollama');
  for (let turn = 0; turn < 20; turn += 1) {
    const response = await ollama.chat({ model: 'qwen3', messages, tools });
    messages.push(response.message);
    const results = await gate.answer<Message>('ollama', response);
    if (results.length === 0) return response.message.content;
    messages.push(...results);
  }
  throw new Error('The model did not come to an end.');
}
