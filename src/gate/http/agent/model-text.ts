/** Whether an answer is for a program or goes straight into a model's context (`Accept: text/plain`). */
import { accepts } from 'hono/accepts';
import { observationText } from '../../observation/text.ts';
import type { Outcome } from '../../outcome.ts';
import type { HttpContext } from '../shared/context.ts';

const JSON_TYPE = 'application/json';
const TEXT_TYPE = 'text/plain';

/** JSON unless text is asked for before it: HTTP libraries accept "application/json, text/plain, *" without meaning the second. */
export function wantsModelText(c: HttpContext): boolean {
  return accepts(c, { header: 'Accept', supports: [JSON_TYPE, TEXT_TYPE], default: JSON_TYPE }) === TEXT_TYPE;
}

export function answerModelText(c: HttpContext, outcome: Outcome): Response {
  return c.body(observationText(outcome), 200, { 'Content-Type': 'text/plain; charset=utf-8' });
}
