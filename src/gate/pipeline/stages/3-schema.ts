/** Stage 3: the arguments fit the tool's schema, without coercion. Each problem names its field and repeats its description. */
import type { ParsedCall, Step, ValidCall } from '../calls.ts';

export function matchSchema(call: ParsedCall): Step<ValidCall> {
  const checked = call.definition.bind(call.args);
  return checked.ok
    ? { ok: true, call: { ...call, bound: checked.bound } }
    : { ok: false, refusal: { code: 'INVALID_ARGUMENTS', problems: checked.problems } };
}
