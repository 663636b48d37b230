/** What the approver reads: what is asked, who says what, and then either the form or what became of it. */
import type { Child } from 'hono/jsx';
import { codeOf, messageOf } from '../../outcome.ts';
import { formatMoney } from '../../money/money.ts';
import type { ApprovalView } from '../../session/rpc.ts';
import { toMinute } from '../../time.ts';
import { DecisionFormCard, ErrorSummary, type FieldProblem } from './approval-page-decision.tsx';
import { AnswerList, ClaimsSection, LedgerSection, Outside, Time, wordsOf } from './approval-page-facts.tsx';
import { MAX_NOTE_CHARACTERS, type DecisionForm } from './approval-page-form.ts';

/** Why the page is shown again instead of a decision being taken. */
export type Again =
  | { why: 'problems'; problems: FieldProblem[] }
  | { why: 'stale'; shown: string }
  | { why: 'already_decided' }
  | { why: 'paused' }
  | { why: 'unreadable' };

export type ApprovalPage = {
  view: ApprovalView;
  /** Whose link this is; the page says "you" of that one only. */
  approver: number;
  again?: Again;
  /** What was typed and is kept. */
  typed?: Partial<DecisionForm>;
};

export function titleOf({ view, again }: ApprovalPage): string {
  const asked = askedFor(view);
  if (again?.why === 'problems') return `Error: ${asked}`;
  return view.status === 'pending' ? `Your decision: ${asked}` : `${STATUS[view.status].label}: ${asked}`;
}

export const ApprovalBody = ({ page }: { page: ApprovalPage }) => {
  const { view, again, typed = {} } = page;
  const pending = view.status === 'pending';
  return (
    <>
      {again?.why === 'problems' && <ErrorSummary problems={again.problems} view={view} />}
      {again !== undefined && again.why !== 'problems' && <AgainNotice page={page} why={again.why} />}
      <p class={`pill ${STATUS[view.status].tone}`}>{STATUS[view.status].label}</p>
      <Heading view={view} />
      {pending && view.paused && again?.why !== 'paused' && (
        <Notice tone="warn" title="An operator has paused this">
          <p>It cannot be approved until the pause is lifted. You may reject it now. The time to decide runs.</p>
        </Notice>
      )}
      {!pending && <Ending page={page} />}
      {view.applied_before.length > 0 && <AppliedBefore view={view} />}
      <div class="sides">
        <LedgerSection view={view} shown={again?.why === 'stale' ? again.shown : null} />
        <ClaimsSection view={view} />
      </div>
      {pending && (
        <DecisionFormCard view={view} typed={typed} problems={again?.why === 'problems' ? again.problems : []} />
      )}
      <footer>
        <p>
          Request <Outside value={view.id} />, tool <Outside value={view.tool} />, session{' '}
          <Outside value={view.session_id} />
        </p>
        {pending && (
          <p>Keep this link to yourself: anyone who has it can decide in your name. Opening it changes nothing.</p>
        )}
      </footer>
    </>
  );
};

type Tone = 'info' | 'good' | 'bad' | 'warn' | 'quiet';

const STATUS: Record<ApprovalView['status'], { label: string; tone: Tone; title: string }> = {
  pending: { label: 'Waiting for a decision', tone: 'warn', title: '' },
  approved: { label: 'Approved', tone: 'info', title: 'Approved, and being carried out' },
  executed: { label: 'Approved and done', tone: 'good', title: 'Approved, and done' },
  rejected: { label: 'Rejected', tone: 'quiet', title: 'Rejected' },
  expired: { label: 'Expired', tone: 'quiet', title: 'Expired' },
  failed: { label: 'Not done', tone: 'bad', title: 'Not done' },
};

const moneyOf = ({ claimed: { amount_cents, currency } }: ApprovalView): string | null =>
  amount_cents === null || currency === null ? null : formatMoney({ amount_cents, currency });

function askedFor(view: ApprovalView): string {
  const money = moneyOf(view);
  return money === null ? wordsOf(view.tool) : `${wordsOf(view.tool)}, ${money}`;
}

const Heading = ({ view }: { view: ApprovalView }) => {
  const money = moneyOf(view);
  return (
    <>
      <h1>
        {wordsOf(view.tool)}
        {money !== null && (
          <>
            : <span class="amount">{money}</span>
          </>
        )}
      </h1>
      <p class="lead">
        An agent of <Outside value={view.caller_name} /> asked for this at <Time at={view.opened_at} />.
        {view.status === 'pending' && (
          <>
            {' '}
            It is not done, and will not be unless an approver approves it before{' '}
            <strong>
              <Time at={view.expires_at} />
            </strong>
            .
          </>
        )}
      </p>
    </>
  );
};

const Notice = ({ tone, title, children }: { tone: Tone; title: string; children: Child }) => (
  <div class={`card notice ${tone}`}>
    <h2>{title}</h2>
    {children}
  </div>
);

type Notices = Exclude<Again['why'], 'problems'>;

const AGAIN_TITLES: Record<Notices, string> = {
  stale: 'The ledger has changed, so nothing was decided',
  already_decided: 'Your answer was not needed any more',
  paused: 'An operator paused this, so nothing was decided',
  unreadable: 'The ledger cannot be read, so nothing was decided',
};

const AgainNotice = ({ page, why }: { page: ApprovalPage; why: Notices }) => (
  <div role="alert" tabindex={-1} autofocus>
    <Notice tone="warn" title={AGAIN_TITLES[why]}>
      {why === 'stale' && (
        <p>
          <a href="#facts">What the system of record says</a> is not what it was when you opened the page. Read it
          again, then decide.
        </p>
      )}
      {why === 'already_decided' && <p>{whyTooLate(page)}</p>}
      {why === 'paused' && (
        <p>
          The request still waits, and its time runs. You may reject it now. To approve it, send your answer again when
          the operator has lifted the pause; everything you typed is kept below.
        </p>
      )}
      {why === 'unreadable' && (
        <p>The request still waits. Everything you typed is kept below: send it again in a minute.</p>
      )}
    </Notice>
  </div>
);

function whyTooLate(page: ApprovalPage): string {
  if (page.view.status === 'expired') return 'The time to decide is over.';
  if (page.view.decided_by === null) return 'The request does not wait for a decision any more.';
  return `This was already decided ${byWhom(page)}.`;
}

const byWhom = ({ view, approver }: ApprovalPage): string =>
  view.decided_by === approver ? 'by you' : 'by another approver';

/** What became of it, once it is no longer pending. */
const Ending = ({ page }: { page: ApprovalPage }) => {
  const { status, paused, note, result, claimed, sent } = page.view;
  const said = endingOf(page);
  return (
    <Notice tone={STATUS[status].tone} title={STATUS[status].title}>
      {said !== null && <p>{said}</p>}
      {status === 'approved' && sent !== null && (
        <p>
          It was sent {sent.sends === 1 ? 'once' : `${sent.sends} times`}, last at <Time at={sent.last_send_at} />. It
          is being settled, and will not be done twice.
        </p>
      )}
      {status === 'approved' && paused && sent === null && (
        <p>
          An operator has paused this. It is carried out if the pause is lifted within an hour of the approval, and else
          it is not done.
        </p>
      )}
      {note !== null && (
        <p>
          Note: <Outside value={note} max={MAX_NOTE_CHARACTERS} />
        </p>
      )}
      {status === 'approved' && (
        <a class="reload" href="">
          Load this page again
        </a>
      )}
      {status === 'executed' && result?.ok === true && <AnswerList answer={result.data} currency={claimed.currency} />}
      {(status === 'executed' || status === 'failed') && result?.ok === false && (
        <p>
          {messageOf(result.refusal)} <span class="small">({codeOf(result.refusal)})</span>
        </p>
      )}
    </Notice>
  );
};

function endingOf(page: ApprovalPage): string | null {
  const { status, decided_at, decided_by, expires_at } = page.view;
  const at = decided_at === null ? '' : toMinute(decided_at);
  const decided = `${byWhom(page)}${at && `, at ${at}`}`;
  switch (status) {
    case 'pending':
      return null;
    case 'approved':
      return `It was approved ${decided}. The result is not known yet.`;
    case 'executed':
      return `It was approved ${decided}.`;
    case 'rejected':
      return `It was rejected ${decided}, and is not done.`;
    case 'expired':
      return `Nobody decided before ${toMinute(expires_at)}, so it was not done.`;
    case 'failed':
      return decided_by === null || at === '' ? null : `It was approved at ${at}, but could not be carried out.`;
  }
}

/** The same was done before; another approval would do it once more. */
const AppliedBefore = ({ view: { applied_before, claimed, status } }: { view: ApprovalView }) => (
  <div class="card notice warn">
    <h2>The same was already done {applied_before.length === 1 ? 'once' : `${applied_before.length} times`}</h2>
    {status === 'pending' && <p>If you approve, it is done once more, on top of this:</p>}
    {applied_before.map(({ attempt, answer }) => (
      <>
        {applied_before.length > 1 && <h3>Attempt {attempt}</h3>}
        <AnswerList answer={answer} currency={claimed.currency} />
      </>
    ))}
  </div>
);
