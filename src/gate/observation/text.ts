/**
 * Renders what the model reads, for text answers, provider results and MCP
 * (docs/specification.md#what-the-model-reads). The frame separates data from instructions, so nothing inside may look
 * like the frame.
 */
import { canonicalJson } from '../canonical.ts';
import type { Outcome } from '../outcome.ts';

/** Everything that could open or close a tag, and two line ends that JSON allows unescaped. */
const ESCAPED = /[<>&\u2028\u2029]/g;

/** Sorted keys make equal outcomes equal text: prompt caches hit, and models recognize loops. */
export function observationText(outcome: Outcome): string {
  const { replayed, ...rest } = outcome;
  const body = canonicalJson(replayed ? { ...rest, replayed } : rest).replace(ESCAPED, jsonEscape);
  return `<tool_observation name="${attribute(outcome.tool)}" id="${attribute(outcome.call_id)}">${body}</tool_observation>`;
}

/** These characters occur in JSON only inside strings, where an escape is valid. */
const jsonEscape = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

const attribute = (value: string): string => value.replace(/[^A-Za-z0-9._:-]/gu, '_');
