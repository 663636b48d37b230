import type { GoogleGenAI, Interactions } from '@google/genai';
import type { Gate } from './toolgate.ts';

/** Goes on until the model proposes no more calls. The provider keeps the conversation: its last id goes into the next one. */
export async function runGeminiInteractions(
  ai: GoogleGenAI,
  gate: Gate,
  said: string,
  previous?: string,
): Promise<{ text: string; id: string }> {
  const tools = await gate.tools<Interactions.Function>('gemini-interactions');
  let input: string | Interactions.FunctionResultStep[] = said;
  let previous_interaction_id = previous;
  for (let turn = 0; turn < 20; turn += 1) {
    const interaction: Interactions.Interaction = await ai.interactions.create({
      model: 'gemini-3.8-flash',
      input,
      tools,
      previous_interaction_id,
    });
    const results = await gate.answer<Interactions.FunctionResultStep>('gemini-interactions', interaction);
    if (results.length === 0) return { text: interaction.output_text ?? '', id: interaction.id };
    input = results;
    previous_interaction_id = interaction.id;
  }
  throw new Error('The model did not come to an end.');
}
