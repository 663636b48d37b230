/** Stage 5: the tool's own rules, on what the primary says now. A backend that cannot be read decides nothing. */
import { UNREACHED, type Refusal } from '../../outcome.ts';
import { UpstreamError, UpstreamTimeout } from '../../ports.ts';
import type { Tool } from '../../tool/define-tool.ts';
import type { CheckedCall, Proposal, Step } from '../calls.ts';
import type { Gate } from '../gate.ts';
import { deadlineOf } from '../deadline.ts';

export type Checking = Step<CheckedCall> & { seen?: CheckedCall['seen'] };

export async function businessRules(call: Proposal, gate: Gate): Promise<Checking> {
  const { definition, bound } = call;
  const { customer_id } = gate.scope();
  try {
    const checked = await gate.upstream.run((signal) => bound.check(gate.kit, { customer_id, signal }), {
      tryMs: definition.timeoutMs,
      deadline: deadlineOf(call),
    });
    if (checked.ok) return { ok: true, call: { ...call, seen: checked.seen } };
    const refusal = toolCode(definition, checked.code, checked.facts);
    return checked.seen === undefined ? { ok: false, refusal } : { ok: false, refusal, seen: checked.seen };
  } catch (error) {
    return { ok: false, refusal: failedRead(error, definition, gate) };
  }
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
