import OpenAI from 'openai';
import { runOpenAI } from './openai-responses.ts';
import { replay } from './scripted-model.ts';
import { openSession, toolgate } from './toolgate.ts';

/**
 * Plays recorded responses to your loop, one for each time it asks the model. In `requests` is what it asked: `requests[1]`
 * holds the results of the first response's calls.
 */
export async function rehearse(url: string, apiKey: string, recorded: readonly object[]) {
  const session = { session_id: crypto.randomUUID(), customer_id: 'CUS-1' };
  const gate = toolgate(url, () => openSession(url, apiKey, session));
  return replay(recorded, (baseURL) =>
    runOpenAI(new OpenAI({ baseURL, apiKey: 'none' }), gate, [{ role: 'user', content: 'My order arrived damaged.' }]),
  );
}
