/** The form an approver decides with. Nothing in it is chosen or filled in beforehand, and its one button says neither answer. */
import type { ApprovalView } from '../../session/rpc.ts';
import { MAX_NOTE_CHARACTERS, noteIsTooLong, type DecisionForm } from './approval-page-form.ts';
import { phraseMatches } from '../../money/money.ts';
import { digestsOf } from '../../tool/facts.ts';

export type FieldProblem = 'no_choice' | 'wrong_phrase' | 'note_too_long';

/** All that is wrong with what was typed, so that one round of correcting is enough. */
export function fieldProblems(form: DecisionForm, { phrase, claimed }: ApprovalView): FieldProblem[] {
  return [
    ...(form.decision === null ? (['no_choice'] as const) : []),
    ...(phraseMatches(form.phrase, phrase, claimed.currency) ? [] : (['wrong_phrase'] as const)),
    ...(noteIsTooLong(form.note) ? (['note_too_long'] as const) : []),
  ];
}

const FIELD_OF: Record<FieldProblem, string> = { no_choice: 'approve', wrong_phrase: 'phrase', note_too_long: 'note' };

const asksForAmount = ({ claimed }: ApprovalView): boolean =>
  claimed.amount_cents !== null && claimed.currency !== null;

function wordingOf(problem: FieldProblem, view: ApprovalView): string {
  switch (problem) {
    case 'no_choice':
      return 'Choose whether you approve or reject';
    case 'wrong_phrase':
      return asksForAmount(view)
        ? `Type the amount as it is shown: ${view.phrase}`
        : `Type the last 6 characters of the request: ${view.phrase}`;
    case 'note_too_long':
      return `The note may have at most ${MAX_NOTE_CHARACTERS} characters`;
  }
}

/** Names each problem and leads to its field. Takes the focus, so that the keyboard starts there. */
export const ErrorSummary = ({ problems, view }: { problems: FieldProblem[]; view: ApprovalView }) => (
  <div class="card problems" role="alert" aria-labelledby="problems" tabindex={-1} autofocus>
    <h2 id="problems">Nothing was decided yet</h2>
    <ul>
      {problems.map((problem) => (
        <li>
          <a href={`#${FIELD_OF[problem]}`}>{wordingOf(problem, view)}</a>
        </li>
      ))}
    </ul>
  </div>
);

type FormProps = { view: ApprovalView; typed: Partial<DecisionForm>; problems: FieldProblem[] };

/**
 * Posts to the page's own address, so that the document does not hold the link's token. A form that is shown again to be
 * corrected keeps the digests it was sent with: a refund that came in meanwhile must not count as seen.
 */
export const DecisionFormCard = ({ view, typed, problems }: FormProps) => (
  <form class="card" method="post" autocomplete="off" novalidate aria-labelledby="decision">
    <h2 id="decision">Your decision</h2>
    <input type="hidden" name="shown" value={typed.shown ?? digestsOf(view.facts ?? [])} />
    <Choices view={view} chosen={typed.decision ?? null} problem={problems.includes('no_choice')} />
    <PhraseField view={view} typed={typed.phrase ?? ''} problem={problems.includes('wrong_phrase')} />
    <NoteField view={view} typed={typed.note ?? ''} problem={problems.includes('note_too_long')} />
    <button type="submit">Send decision</button>
  </form>
);

type ChoicesProps = { view: ApprovalView; chosen: DecisionForm['decision']; problem: boolean };

const Choices = ({ view, chosen, problem }: ChoicesProps) => (
  <fieldset
    role="radiogroup"
    aria-required="true"
    {...(problem ? { 'aria-invalid': 'true', 'aria-describedby': 'choice-problem' } : {})}
  >
    <legend>Should this be done?</legend>
    {problem && <Problem id="choice-problem" text={wordingOf('no_choice', view)} />}
    <div class="choices">
      <label class="choice">
        <input type="radio" id="approve" name="decision" value="approve" checked={chosen === 'approve'} />
        <span>
          <strong>Approve</strong> <span class="small">It is carried out at once.</span>
        </span>
      </label>
      <label class="choice">
        <input type="radio" id="reject" name="decision" value="reject" checked={chosen === 'reject'} />
        <span>
          <strong>Reject</strong> <span class="small">It is not done, and the agent is told.</span>
        </span>
      </label>
    </div>
  </fieldset>
);

type FieldProps = { view: ApprovalView; typed: string; problem: boolean };

const PhraseField = ({ view, typed, problem }: FieldProps) => (
  <div class="field">
    <label class="label" for="phrase">
      {asksForAmount(view) ? 'Type the amount to confirm' : 'Type the end of the request to confirm'}
    </label>
    <p class="hint" id="phrase-hint">
      {asksForAmount(view) ? 'The amount asked for is ' : 'The last 6 characters of the request are '}
      <strong>{view.phrase}</strong>. Needed to approve and to reject.
    </p>
    {problem && <Problem id="phrase-problem" text={wordingOf('wrong_phrase', view)} />}
    <input
      type="text"
      id="phrase"
      name="phrase"
      value={typed}
      autocomplete="off"
      autocapitalize="none"
      spellcheck={false}
      aria-required="true"
      {...describedBy('phrase', problem)}
    />
  </div>
);

const NoteField = ({ view, typed, problem }: FieldProps) => (
  <div class="field">
    <label class="label" for="note">
      Note <span class="small">(optional)</span>
    </label>
    <p class="hint" id="note-hint">
      At most {MAX_NOTE_CHARACTERS} characters. The other approvers can read it; if you reject, the agent can, too.
    </p>
    {problem && <Problem id="note-problem" text={wordingOf('note_too_long', view)} />}
    <textarea id="note" name="note" rows={4} {...describedBy('note', problem)}>
      {typed}
    </textarea>
  </div>
);

const describedBy = (field: string, problem: boolean): Record<string, string> =>
  problem
    ? { 'aria-invalid': 'true', 'aria-describedby': `${field}-problem ${field}-hint` }
    : { 'aria-describedby': `${field}-hint` };

const Problem = ({ id, text }: { id: string; text: string }) => (
  <p class="problem" id={id}>
    {text}
  </p>
);
