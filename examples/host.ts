import type OpenAI from 'openai';
import { runOpenAI } from './openai-responses.ts';
import { openSession, toolgate } from './toolgate.ts';

type Host = { url: string; apiKey: string; openai: OpenAI; say: (text: string) => void };

/** One conversation from the user's words to the last answer, with what people decided about it in between. */
export async function serve({ url, apiKey, openai, say }: Host, customer_id: string, words: string): Promise<void> {
  const session = { session_id: crypto.randomUUID(), customer_id };
  const gate = toolgate(url, () => openSession(url, apiKey, session));
  const conversation: OpenAI.Responses.ResponseInputItem[] = [{ role: 'user', content: words }];
  say(await runOpenAI(openai, gate, conversation));
  for (const approvalId of gate.waiting) {
    conversation.push({ role: 'user', content: await gate.decided(approvalId) });
    say(await runOpenAI(openai, gate, conversation));
  }
}
