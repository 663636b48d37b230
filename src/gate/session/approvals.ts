/** The approvals of this session as people and hosts meet them: the page, the decision, the poll, the operator's hand. */
import { sameHash } from '../auth/api-key.ts';
import { phraseMatches, phraseOf } from '../money/money.ts';
import { shownCallId, toOutcome, type Outcome, type Verdict } from '../outcome.ts';
import { readArguments } from '../pipeline/stages/2-parse.ts';
import { toolCode } from '../pipeline/stages/5-business-rules.ts';
import { timestamp } from '../time.ts';
import { GET_APPROVAL, type ApprovalQuestion } from '../tool/get-approval.ts';
import { approve, expire, reject } from '../pipeline/stored-actions.ts';
import type { Decision } from '../pipeline/gate.ts';
import { statusOf, verdictOf } from '../pipeline/record-verdict.ts';
import { cleanText } from '../observation/clean.ts';
import type { EffectRecord } from '../ports.ts';
import type { Alarms } from './alarm-clock.ts';
import { viewOf } from './approval-view.ts';
import { readSession, scopeOf } from './session-row.ts';
import { askAgain, KEPT_MS } from './notifications.ts';
import type { Polls } from './polls.ts';
import type { OwnPorts } from './session-tables.ts';
import { approversOf, recordAt, recordOfApproval, sentOf } from './records.ts';
import type {
  ApprovalAnswer,
  ApprovalView,
  CallAnswer,
  CallRequest,
  DecisionAnswer,
  DecisionRequest,
  LinkProof,
  ViewAnswer,
} from './rpc.ts';
import type { SessionGate } from './session-gate.ts';

/** 500 characters, each of up to two UTF-16 units. */
const MAX_NOTE_UNITS = 1_000;

export class Approvals {
  readonly #ports: OwnPorts;
  readonly #gate: SessionGate;
  readonly #alarms: Alarms;
  readonly #polls: Polls;

  constructor(ports: OwnPorts, gate: SessionGate, alarms: Alarms, polls: Polls) {
    this.#ports = ports;
    this.#gate = gate;
    this.#alarms = alarms;
    this.#polls = polls;
  }

  /** Changes nothing, because scanners open every link of a mail. */
  async view(proof: LinkProof): Promise<ViewAnswer> {
    const record = this.#linked(proof);
    return record === null ? { refused: 'bad_link' } : { view: await this.viewOf(record) };
  }

  async decide(request: DecisionRequest): Promise<DecisionAnswer> {
    const linked = this.#linked(request);
    if (linked === null) return { refused: 'bad_link' };
    while (this.#gate.isRunning(linked.key)) await this.#gate.whenFree(linked.key);
    const record = recordAt(this.#ports.sql, linked.key, linked.round);
    const seen = async (): Promise<{ view: ApprovalView }> => ({
      view: await this.viewOf(this.#gate.records.reread(record)),
    });
    if (record.state !== 'pending' || expire(record, 'session', this.#gate))
      return { refused: 'already_decided', ...(await seen()) };
    // Whoever waited here may have lost the right to decide meanwhile.
    if (this.#linked(request) === null) return { refused: 'bad_link' };
    if (request.decision === null) return { refused: 'no_choice', ...(await seen()) };
    const phrase = phraseOf(record.money, request.approval_id);
    if (!phraseMatches(request.phrase, phrase, record.money?.currency))
      return { refused: 'wrong_phrase', ...(await seen()) };
    const decision: Decision = {
      approver: request.approver,
      note: cleanNote(request.note),
      request_id: request.request_id,
      shown: request.shown,
      started_at: this.#gate.now(),
    };
    if (request.decision === 'reject') {
      reject(record, decision, this.#gate);
      return { decided: 'rejected' };
    }
    const approved = await this.#approve(record, decision, request);
    switch (approved) {
      case 'approved':
      case 'failed':
        return { decided: approved };
      case 'barred':
        return { refused: 'bad_link' };
      case 'lost':
        return { refused: 'already_decided', ...(await seen()) };
      case 'stale':
      case 'unreadable':
        return { refused: approved, ...(await seen()) };
    }
  }

  async #approve(record: EffectRecord, decision: Decision, request: DecisionRequest) {
    const release = this.#gate.occupy(record.key);
    try {
      return await approve(record, decision, () => this.#linked(request) !== null, this.#gate);
    } finally {
      release();
    }
  }

  /** `GET /v1/approvals/{id}`: answers at once, or at a change within `waitSeconds`. */
  async poll(id: string, waitSeconds: number): Promise<ApprovalAnswer> {
    const { sql, now, sleep } = this.#ports;
    if (!this.#polls.admit(now())) return { refused: 'too_many_polls' };
    const record = recordOfApproval(sql, id);
    if (record === null) return { refused: 'not_found' };
    const isOpen =
      !expire(record, 'session', this.#gate) && (record.state === 'pending' || record.state === 'approved');
    if (isOpen && waitSeconds > 0) await this.#polls.wait(id, (stop) => sleep(waitSeconds * 1000, stop));
    const after = this.#gate.records.reread(record);
    expire(after, 'session', this.#gate);
    return this.#answer(this.#gate.records.reread(record));
  }

  /**
   * `get_approval`: passes stages 1 to 3 and tells the present truth of the action. It takes no step and leaves no row, so
   * that it works when the budget is spent.
   */
  async tellAgent(request: CallRequest): Promise<CallAnswer> {
    const { tools } = this.#ports;
    if (request.defect !== undefined) return this.#told(request, { ok: false, refusal: request.defect });
    const reading = readArguments(request.arguments);
    if (!reading.ok)
      return this.#told(request, { ok: false, refusal: { code: 'INVALID_JSON', reason: reading.reason } });
    const definition = tools.get(GET_APPROVAL);
    const valid = definition?.bind(reading.value);
    if (definition === undefined || valid === undefined)
      throw new Error(`${GET_APPROVAL} is asked where it is not offered`);
    if (!valid.ok)
      return this.#told(request, { ok: false, refusal: { code: 'INVALID_ARGUMENTS', problems: valid.problems } });
    const { approval_id, wait_seconds } = valid.bound.input as ApprovalQuestion;
    const answer = await this.poll(approval_id, wait_seconds);
    if (!('refused' in answer)) {
      const { id, status, arguments: args, outcome } = answer;
      const approval = { id, status, expires_at: timestamp(answer.expires_at), arguments: args };
      const { deprecated: _deprecated, ...told } = outcome;
      return this.#standing({
        ...told,
        call_id: shownCallId(request.call_id),
        tool: GET_APPROVAL,
        step: null,
        approval,
      });
    }
    if (answer.refused !== 'not_found') return { refused: answer.refused };
    return this.#told(request, { ok: false, refusal: toolCode(definition, 'APPROVAL_NOT_FOUND', {}) });
  }

  #told = ({ call_id }: CallRequest, verdict: Verdict): CallAnswer =>
    this.#standing(toOutcome({ call_id, tool: GET_APPROVAL, step: null }, verdict));

  #standing(outcome: Outcome): CallAnswer {
    const { max_steps } = this.#gate.scope();
    return { outcome, max_steps, steps_left: Math.max(0, max_steps - this.#gate.stepsTaken()), audit: null };
  }

  #answer(record: EffectRecord): ApprovalAnswer {
    const { approval } = record;
    if (approval === null) return { refused: 'not_found' };
    const asked = approversOf(this.#ports.sql, record);
    const { call_id, tool, step } = record;
    const head = { call_id, tool, step, deprecated: this.#ports.tools.get(tool)?.deprecatedBy };
    return {
      id: approval.id,
      status: statusOf(record),
      tool,
      arguments: record.input,
      expires_at: approval.expires_at,
      decided_at: approval.decided_at,
      // What an approver notes beside a yes is for the record: the form tells them that the agent reads a rejection's note.
      note: record.state === 'rejected' ? approval.note : null,
      sent: sentOf(record),
      delivery: {
        asked: asked.length,
        sent: asked.filter(({ sent_at }) => sent_at !== null).length,
        undeliverable: asked.filter(({ undeliverable }) => undeliverable).length,
      },
      outcome: toOutcome(head, verdictOf(record)),
    };
  }

  /** Mails every approver again who was asked and may still decide. */
  resend = (id: string, requestId: string) =>
    this.#operate(id, (record) => {
      if (!askAgain(record, this.#ports)) return 'nobody_to_ask';
      const origin = { kind: 'event', actor: 'operator', record, request_id: requestId } as const;
      this.#gate.settle({ origin, verdict: { ok: true, data: {}, replayed: false }, event: 'MAIL_RESENT', record });
      this.#alarms.arm(this.#gate.now());
      return 'done';
    });

  /** Takes a pending action back, so that nobody can approve it any more. */
  withdraw = (id: string, requestId: string) =>
    this.#operate(id, (record) => {
      const { key, contract } = record;
      const refusal = { code: 'WITHDRAWN' } as const;
      const origin = { kind: 'event', actor: 'operator', record, request_id: requestId } as const;
      const change = { to: 'failed', record, refusal, voided: false } as const;
      this.#gate.settle({ origin, verdict: { ok: false, refusal }, key, contract, change });
      return 'done';
    });

  #operate<Result extends string>(
    id: string,
    act: (record: EffectRecord) => Result,
  ): Result | 'not_found' | 'not_pending' {
    const { sql } = this.#ports;
    const record = readSession(sql) === null ? null : recordOfApproval(sql, id);
    if (record === null) return 'not_found';
    if (record.state !== 'pending' || expire(record, 'session', this.#gate)) return 'not_pending';
    return act(record);
  }

  viewOf = (record: EffectRecord): Promise<ApprovalView> => viewOf(record, this.#ports, this.#gate);

  /** The record a link names, if the bits, the object's clock and the caller's present list of approvers agree. */
  #linked({ approval_id, approver: number, bits }: LinkProof): EffectRecord | null {
    const { sql, now } = this.#ports;
    const session = readSession(sql);
    const record = session === null ? null : recordOfApproval(sql, approval_id);
    if (session === null || record?.approval == null) return null;
    const approver = approversOf(sql, record)[number];
    if (approver === undefined || !sameHash(approver.bits, bits)) return null;
    if (now() >= record.approval.expires_at + KEPT_MS) return null;
    return scopeOf(session).approvers.includes(approver.email) ? record : null;
  }
}

const cleanNote = (note: string | null): string | null => {
  const cleaned = note === null ? '' : cleanText(note, 'plain', MAX_NOTE_UNITS).trim();
  return cleaned === '' ? null : cleaned;
};
