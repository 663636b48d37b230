/** Stage 5: the tool's own rules, on what the primary says now. A backend that cannot be read decides nothing. */
import { UNREACHED, type Refusal } from '../../outcome.ts';
import { UpstreamError, UpstreamTimeout } from '../../ports.ts';
import type { Tool } from '../../tool/define-tool.ts';
import type { CheckedCall, Proposal, Step } from '../calls.ts';
import type { Gate } from '../gate.ts';
import { deadlineOf } from '../deadline.ts';
import { effectKeyOf } from '../effect-key.ts';

export type Checking = Step<CheckedCall> & { seen?: CheckedCall['seen'] };

export async function businessRules(call: Proposal, gate: Gate): Promise<Checking> {
  const { definition, bound } = call;
  const { customer_id } = gate.scope();
  try {
    if (bound.external !== null && gate.kit.backends.place(bound.external.backend) === null)
      return { ok: false, refusal: UNREACHED };
    const checked = await gate.upstream.run((signal) => bound.check(gate.kit, { customer_id, signal }), {
      tryMs: definition.timeoutMs,
      deadline: deadlineOf(call),
    });
    if (checked.ok) return { ok: true, call: provenBy(checked.seen, call, gate) };
    const refusal = toolCode(definition, checked.code, checked.facts);
    return checked.seen === undefined ? { ok: false, refusal } : { ok: false, refusal, seen: checked.seen };
  } catch (error) {
    return { ok: false, refusal: failedRead(error, definition, gate) };
  }
}

/** What the claim or the approval will store. The tool's functions run here, so that one that throws has claimed nothing. */
function provenBy(seen: CheckedCall['seen'], call: Proposal, gate: Gate): CheckedCall {
  const { external, input } = call.bound;
  const subject = call.bound.subject(seen);
  if (external === null) return { ...call, seen, subject, external };
  const place = gate.kit.backends.place(external.backend);
  if (place === null) throw new UpstreamError('not configured', false);
  return { ...call, seen, subject, external: { outgoing: external.outgoing(input, effectKeyOf(call), seen), place } };
}

export const toolCode = (definition: Tool, code: string, facts: CheckedCall['seen']): Refusal => ({
  code: 'TOOL_CODE',
  tool_code: code,
  ...definition.refusal(code, facts),
});

/** What a failed read means. Only a read tool's limit is a `TIMEOUT`: of an effect it would say too much. */
export function failedRead(error: unknown, definition: Tool, gate: Gate): Refusal {
  if (error instanceof UpstreamTimeout && definition.effect === 'none') return { code: 'TIMEOUT' };
  if (error instanceof UpstreamError || error instanceof UpstreamTimeout) return UNREACHED;
  const error_id = gate.newId('err');
  gate.report(error_id, error);
  return { code: 'INTERNAL_ERROR', error_id };
}

/** Whether the refusal judges the call, rather than telling that it could not be judged. */
export const isJudgement = ({ code }: Refusal): boolean =>
  code !== 'UPSTREAM_UNAVAILABLE' && code !== 'TIMEOUT' && code !== 'INTERNAL_ERROR';
