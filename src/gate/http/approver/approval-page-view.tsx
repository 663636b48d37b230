/** What the approver reads: what is asked, who says what, and then either the form or what became of it. */
import type { Child } from 'hono/jsx';
import { codeOf, messageOf } from '../../outcome.ts';
import { formatMoney } from '../../money/money.ts';
import type { ApprovalView } from '../../session/rpc.ts';
import { DecisionFormCard, ErrorSummary, type FieldProblem } from './approval-page-decision.tsx';
import { AnswerList, ClaimsSection, LedgerSection, Outside, Time, wordsOf } from './approval-page-facts.tsx';
import { MAX_NOTE_CHARACTERS, type DecisionForm } from './approval-page-form.ts';

/** Why the page is shown again instead of a decision being taken. */
export type Again =
  | { why: 'problems'; problems: FieldProblem[] }
  | { why: 'stale'; shown: string }
  | { why: 'already_decided' }
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

const STATUS: Record<ApprovalView['status'], { label: string; tone: Tone }> = {
  pending: { label: 'Waiting for a decision', tone: 'warn' },
  approved: { label: 'Approved', tone: 'info' },
  executed: { label: 'Approved and done', tone: 'good' },
  rejected: { label: 'Rejected', tone: 'quiet' },
  expired: { label: 'Expired', tone: 'quiet' },
  failed: { label: 'Not done', tone: 'bad' },
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

const AgainNotice = ({ page, why }: { page: ApprovalPage; why: 'stale' | 'already_decided' | 'unreadable' }) => (
  <div role="alert" tabindex={-1} autofocus>
    {why === 'stale' && (
      <Notice tone="warn" title="The ledger has changed, so nothing was decided">
        <p>
          <a href="#facts">What the system of record says</a> is not what it was when you opened the page. Read it
          again, then decide.
        </p>
      </Notice>
    )}
    {why === 'already_decided' && (
      <Notice tone="warn" title="Your answer was not needed any more">
        <p>{whyTooLate(page)}</p>
      </Notice>
    )}
    {why === 'unreadable' && (
      <Notice tone="warn" title="The ledger cannot be read, so nothing was decided">
        <p>The request still waits. Everything you typed is kept below: send it again in a minute.</p>
      </Notice>
    )}
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
  const { view } = page;
  const { decided_at } = view;
  const decided = (
    <>
      {byWhom(page)}
      {decided_at !== null && (
        <>
          , at <Time at={decided_at} />
        </>
      )}
    </>
  );
  switch (view.status) {
    case 'pending':
      return <></>;
    case 'approved':
      return (
        <Notice tone="info" title="Approved, and being carried out">
          <p>It was approved {decided}. The result is not known yet.</p>
          {view.sent !== null && (
            <p>
              It was sent {view.sent.sends === 1 ? 'once' : `${view.sent.sends} times`}, last at{' '}
              <Time at={view.sent.last_send_at} />. It is being settled, and will not be done twice.
            </p>
          )}
          <Note note={view.note} />
          <a class="reload" href="">
            Load this page again
          </a>
        </Notice>
      );
    case 'executed':
      return (
        <Notice tone="good" title="Approved, and done">
          <p>It was approved {decided}.</p>
          <Note note={view.note} />
          {view.result?.ok === true && <AnswerList answer={view.result.data} currency={view.claimed.currency} />}
          {view.result?.ok === false && <p>{messageOf(view.result.refusal)}</p>}
        </Notice>
      );
    case 'rejected':
      return (
        <Notice tone="quiet" title="Rejected">
          <p>It was rejected {decided}, and is not done.</p>
          <Note note={view.note} />
        </Notice>
      );
    case 'expired':
      return (
        <Notice tone="quiet" title="Expired">
          <p>
            Nobody decided before <Time at={view.expires_at} />, so it was not done.
          </p>
        </Notice>
      );
    case 'failed':
      return <Failure view={view} />;
  }
};

const Failure = ({ view: { result, decided_at, decided_by, note } }: { view: ApprovalView }) => (
  <Notice tone="bad" title="Not done">
    {decided_by !== null && decided_at !== null && (
      <p>
        It was approved at <Time at={decided_at} />, but could not be carried out.
      </p>
    )}
    <Note note={note} />
    {result?.ok === false && (
      <p>
        {messageOf(result.refusal)} <span class="small">({codeOf(result.refusal)})</span>
      </p>
    )}
  </Notice>
);

const Note = ({ note }: { note: string | null }) =>
  note === null ? (
    <></>
  ) : (
    <p>
      Note: <Outside value={note} max={MAX_NOTE_CHARACTERS} />
    </p>
  );

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
