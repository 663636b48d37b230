/** The form an approver decides with. Nothing in it is chosen or filled in beforehand, and its one button says neither answer. */
import type { Child } from 'hono/jsx';
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

const wordingOf = (problem: FieldProblem, view: ApprovalView): string =>
  ({
    no_choice: 'Choose whether you approve or reject',
    wrong_phrase: asksForAmount(view)
      ? `Type the amount as it is shown: ${view.phrase}`
      : `Type the last 6 characters of the request: ${view.phrase}`,
    note_too_long: `The note may have at most ${MAX_NOTE_CHARACTERS} characters`,
  })[problem];

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

const CHOICES = [
  { value: 'approve', label: 'Approve', effect: 'It is carried out at once.' },
  { value: 'reject', label: 'Reject', effect: 'It is not done, and the agent is told.' },
];

/**
 * Posts to the page's own address, so that the document does not hold the link's token. A form that is shown again to be
 * corrected keeps the digests it was sent with: a refund that came in meanwhile must not count as seen.
 */
export const DecisionFormCard = ({ view, typed, problems }: FormProps) => {
  const byAmount = asksForAmount(view);
  const textOf = (problem: FieldProblem) => (problems.includes(problem) ? wordingOf(problem, view) : null);
  const noChoice = textOf('no_choice');
  const wrongPhrase = textOf('wrong_phrase');
  const longNote = textOf('note_too_long');
  return (
    <form class="card" method="post" autocomplete="off" novalidate aria-labelledby="decision">
      <h2 id="decision">Your decision</h2>
      <input type="hidden" name="shown" value={typed.shown ?? digestsOf(view.facts ?? [])} />
      <fieldset role="radiogroup" aria-required="true" {...describedBy(noChoice, 'choice')}>
        <legend>Should this be done?</legend>
        <Problem of="choice" text={noChoice} />
        <div class="choices">
          {CHOICES.map(({ value, label, effect }) => (
            <label class="choice">
              <input type="radio" id={value} name="decision" value={value} checked={typed.decision === value} />
              <span>
                <strong>{label}</strong> <span class="small">{effect}</span>
              </span>
            </label>
          ))}
        </div>
      </fieldset>
      <div class="field">
        <label class="label" for="phrase">
          {byAmount ? 'Type the amount to confirm' : 'Type the end of the request to confirm'}
        </label>
        <p class="hint" id="phrase-hint">
          {byAmount ? 'The amount asked for is ' : 'The last 6 characters of the request are '}
          <strong>{view.phrase}</strong>. Needed to approve and to reject.
        </p>
        <Problem of="phrase" text={wrongPhrase} />
        <input
          type="text"
          id="phrase"
          name="phrase"
          value={typed.phrase ?? ''}
          autocomplete="off"
          autocapitalize="none"
          spellcheck={false}
          aria-required="true"
          {...describedBy(wrongPhrase, 'phrase', 'phrase-hint')}
        />
      </div>
      <div class="field">
        <label class="label" for="note">
          Note <span class="small">(optional)</span>
        </label>
        <p class="hint" id="note-hint">
          At most {MAX_NOTE_CHARACTERS} characters. The other approvers can read it; if you reject, the agent can, too.
        </p>
        <Problem of="note" text={longNote} />
        <textarea id="note" name="note" rows={4} {...describedBy(longNote, 'note', 'note-hint')}>
          {typed.note ?? ''}
        </textarea>
      </div>
      <button type="submit">Send decision</button>
    </form>
  );
};

/** The attributes that tie a field to its problem, if it has one, and to its hint. */
function describedBy(problem: string | null, field: string, hint?: string): Record<string, string> {
  const ids = [...(problem === null ? [] : [`${field}-problem`]), ...(hint === undefined ? [] : [hint])];
  return {
    ...(problem === null ? {} : { 'aria-invalid': 'true' }),
    ...(ids.length === 0 ? {} : { 'aria-describedby': ids.join(' ') }),
  };
}

const Problem = ({ of, text }: { of: string; text: string | null }): Child =>
  text !== null && (
    <p class="problem" id={`${of}-problem`}>
      {text}
    </p>
  );
