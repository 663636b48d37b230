import type { Content, FunctionDeclaration, GoogleGenAI, Part } from '@google/genai';
import type { Gate } from './toolgate.ts';

type Declarations = { functionDeclarations: FunctionDeclaration[] };

/** Goes on until the model proposes no more calls. Its parts go back as they came: they carry its thought signatures. */
export async function runGemini(ai: GoogleGenAI, gate: Gate, contents: Content[]): Promise<string> {
  const tools = await gate.tools<Declarations>('gemini');
  for (let turn = 0; turn < 20; turn += 1) {
    const response = await ai.models.generateContent({ model: 'gemini-3.8-flash', contents, config: { tools } });
    const { candidates = [], promptFeedback } = response;
    const [candidate] = candidates;
    if (candidate?.content !== undefined) contents.push(candidate.content);
    const parts = await gate.answer<Part>('gemini', { candidates, promptFeedback });
    // A blocked prompt has no candidate, and a blocked answer no text.
    const stopped = promptFeedback?.blockReason ?? candidate?.finishReason ?? 'no reason given';
    if (parts.length === 0) return response.text ?? `The model said nothing: ${stopped}.`;
    contents.push({ role: 'user', parts });
  }
  throw new Error('The model did not come to an end.');
}
