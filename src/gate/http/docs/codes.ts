/** What each code means to the host that shows it to a person, and what each `next` asks of model and host. */
import type { GateCode, Next } from '../../outcome.ts';

/** What to do about a refusal. The model reads `next` in the outcome; the host's loop may act on it without a model. */
export const NEXT_STEPS: Record<Next, { model: string; host: string }> = {
  fix_and_retry: {
    model: 'Correct the call as the message says and propose it again.',
    host: 'Nothing: hand the result to the model.',
  },
  wait_for_approval: {
    model:
      'Tell the user that a person has to approve it, and ask get_approval. Do not change the call to get around that.',
    host: 'End the turn, or wait with GET /v1/approvals/{id}?wait=25 and hand over what it says.',
  },
  use_previous_result: {
    model: 'Use the result you already have.',
    host: 'Nothing: hand the result to the model.',
  },
  stop_and_tell_user: {
    model: 'Stop trying and tell the user what the message says.',
    host: 'End the loop if the model does not.',
  },
};

/** The nine stages by their number. */
export const STAGES =
  'step budget, resolve, parse, schema, idempotency, business rules, policy, confirmation, execute'.split(', ');

type Meaning = {
  /** The stages that refuse with it; none for what only becomes of an approval later. */
  stages: readonly number[];
  meaning: string;
};

/** Every code of the gate in the order of its first stage. A tool's own codes stand with the tool. */
export const GATE_CODES: Record<GateCode, Meaning> = {
  STEP_LIMIT: { stages: [0], meaning: 'The session has taken all its steps.' },
  UNKNOWN_TOOL: { stages: [1], meaning: 'No tool has this name; "available" lists those that the session may use.' },
  TOOL_NOT_ALLOWED: { stages: [1], meaning: 'The tool exists, but not for this session.' },
  RESPONSE_INCOMPLETE: {
    stages: [2],
    meaning:
      'The provider did not mark its response as complete; the message names the mark. None of its calls was made.',
  },
  INVALID_JSON: { stages: [2], meaning: 'The arguments are not exactly one JSON object. Nothing is repaired.' },
  INVALID_ARGUMENTS: { stages: [3], meaning: 'Fields do not fit the schema; "problems" names each one and its hint.' },
  CALL_ID_REUSED: { stages: [4], meaning: 'This call_id belongs to another call of the session.' },
  LOOP_DETECTED: { stages: [4], meaning: 'The same call was proposed more often than the policy lets it be.' },
  CONFIRMATION_REJECTED: {
    stages: [4],
    meaning: 'A person rejected this action for this session; the message may hold their note.',
  },
  TIMEOUT: { stages: [5, 8], meaning: 'A tool that only reads did not answer in time.' },
  UPSTREAM_UNAVAILABLE: {
    stages: [5, 8],
    meaning:
      'The system behind the tool could not be reached, or did not say whether the effect was applied: the message says ' +
      'which. In the second case it is being settled; the same call again tells what became of it.',
  },
  INTERNAL_ERROR: { stages: [5, 8], meaning: 'A fault inside; the message holds the id that finds it in the log.' },
  CALLER_REVOKED: { stages: [6, 8], meaning: 'The caller was revoked before the action was done.' },
  PAUSED: { stages: [6, 8], meaning: 'An operator paused the tool, the caller or everything; reads go on.' },
  SUBJECT_BUSY: {
    stages: [8],
    meaning: 'Another action on the same subject, such as the same payment, is under way in another system.',
  },
  ANSWER_UNREADABLE: {
    stages: [8],
    meaning: 'Another system did it, and its answer does not fit what the tool promises. It must not be repeated.',
  },
  SETTLED_NOT_APPLIED: { stages: [], meaning: 'An operator found that another system never did it.' },
  SESSION_ENDED: { stages: [6], meaning: 'The session was ended before the action was done.' },
  POLICY_LIMIT: {
    stages: [6],
    meaning: 'The policy does not allow it; the message says whether the approvers were told.',
  },
  CONFIRMATION_REQUIRED: {
    stages: [7],
    meaning: 'A person has to approve it first; "approval" is what waits for them.',
  },
  FACTS_CHANGED: {
    stages: [],
    meaning: 'What the approver was shown changed before the approved action was carried out.',
  },
  TOO_MANY_POLLS: { stages: [], meaning: 'get_approval was asked more than 60 times within a minute.' },
  TOOL_CHANGED: { stages: [], meaning: 'The contract of the tool changed between asking and approving.' },
  WITHDRAWN: { stages: [], meaning: 'An operator withdrew the action before it was decided.' },
  APPROVAL_EXPIRED: { stages: [], meaning: 'No approver decided in time.' },
};

export const gateCodes = Object.keys(GATE_CODES) as GateCode[];
