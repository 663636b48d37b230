/** The last thing that happens to an outcome before anyone outside reads it, as JSON or as text (docs/specification.md#what-the-model-reads). */
import type { Outcome } from '../../outcome.ts';
import { observe } from '../../observation/observe.ts';
import type { HttpContext } from '../shared/context.ts';

/** Cleans and bounds its data by the output schema of its tool. Stored answers stay raw: a better filter cleans them too. */
export const observed = (c: HttpContext, outcome: Outcome): Outcome =>
  observe(outcome, c.get('registry').get(outcome.tool)?.outputSchema ?? {});
