/** The facts on the approver's page, each under the name of who says so. Strings from outside are cleaned, cut and isolated. */
import type { Child } from 'hono/jsx';
import type { JsonObject, JsonValue } from '../../json.ts';
import { formatMoney, isPartOfMoney } from '../../money/money.ts';
import { cleanText } from '../../observation/clean.ts';
import type { OtherApproval } from '../../ports.ts';
import type { ApprovalView } from '../../session/rpc.ts';
import type { Fact as ShownFact } from '../../tool/define-tool.ts';
import { digestOf } from '../../tool/facts.ts';
import { timestamp, toMinute } from '../../time.ts';

/** Long enough for a name or an id; an agent that has more to say does not get to say it on this page. */
const MAX_OUTSIDE_CHARACTERS = 120;

/** A string from outside. `bdi` keeps its writing direction from turning the words around it. */
export const Outside = ({ value, max = MAX_OUTSIDE_CHARACTERS }: { value: string; max?: number }) => (
  <bdi>{cleanText(value, 'plain', max)}</bdi>
);

export const Time = ({ at }: { at: number }) => <time datetime={timestamp(at)}>{toMinute(at)}</time>;

const Fact = ({ label, figure = false, children }: { label: Child; figure?: boolean; children: Child }) => (
  <div>
    <dt>{label}</dt>
    <dd {...(figure ? { class: 'figure' } : {})}>{children}</dd>
  </div>
);

const Money = ({ cents, currency }: { cents: number; currency: string }) => (
  <bdi>{formatMoney({ amount_cents: cents, currency })}</bdi>
);

/** `shown`: digests of what the page showed before, where something of it has changed; the facts that are new are marked. */
export const LedgerSection = ({ view, shown }: { view: ApprovalView; shown: string | null }) => (
  <section class="card ledger" aria-labelledby="ledger">
    <h2 id="ledger">What the system of record says</h2>
    {view.facts === null && (
      <p>
        It cannot be read right now. You can reject; to approve, load this page again in a minute, so that you decide on
        what it says then.
      </p>
    )}
    {view.facts?.length === 0 && <p>Nothing more can be shown for this request.</p>}
    {view.facts !== null && view.facts.length > 0 && <FactList facts={view.facts} shown={shown} />}
    {view.facts !== null && (
      <>
        <SameAmount view={view} />
        <h3>Other requests for the same, last 30 days</h3>
        <Others others={view.others} left={view.others_left} />
      </>
    )}
  </section>
);

const FactList = ({ facts, shown }: { facts: ShownFact[]; shown: string | null }) => {
  const before = shown?.split('.');
  return (
    <>
      <p class="says">Read for this page.</p>
      <dl id="facts" tabindex={-1}>
        {facts.map((fact) => {
          const value = fact.outside === true ? <Outside value={fact.value} /> : <bdi>{fact.value}</bdi>;
          const isChanged = before?.includes(digestOf(fact)) === false;
          return (
            <Fact label={fact.label} figure={fact.outside !== true}>
              {isChanged ? <mark>{value} (changed since you opened the page)</mark> : value}
            </Fact>
          );
        })}
      </dl>
    </>
  );
};

/** The same amount asked for again from another session is a new intent to the gate: only a person can tell. */
const SameAmount = ({ view: { status, claimed, others } }: { view: ApprovalView }) => {
  const same = others.filter(
    ({ amount_cents, currency, ...other }) =>
      amount_cents === claimed.amount_cents && currency === claimed.currency && Object.hasOwn(BEFORE, other.status),
  );
  const [first] = same.toSorted((a, b) => rankOf(a) - rankOf(b));
  if (first === undefined || claimed.amount_cents === null || status !== 'pending') return null;
  return (
    <p class="warning">
      <strong>The same amount {BEFORE[first.status]} here</strong> (request <bdi>{first.id}</bdi>,{' '}
      <Time at={first.opened_at} />
      ).{' '}
      {first.note !== null && (
        <>
          The reason: <Outside value={first.note} />{' '}
        </>
      )}
      Make sure that this is not the same request again.
    </p>
  );
};
/** What was done, was refused by a person, or may still be done: the most telling first. */
const BEFORE: Readonly<Record<string, string>> = {
  executed: 'was already moved',
  rejected: 'was rejected by a person',
  approved: 'is already asked for',
  pending: 'is already asked for',
};
const rankOf = ({ status }: OtherApproval): number => Object.keys(BEFORE).indexOf(status);

const Others = ({ others, left }: { others: OtherApproval[]; left: number }) =>
  others.length === 0 ? (
    <p class="small">None.</p>
  ) : (
    <ul class="others">
      {others.map(({ id, status, amount_cents, currency, opened_at }) => (
        <li>
          {amount_cents !== null && currency !== null && (
            <strong>
              <Money cents={amount_cents} currency={currency} />,{' '}
            </strong>
          )}
          <Outside value={status} />{' '}
          <span class="small">
            asked at <Time at={opened_at} />, request <Outside value={id} />
          </span>
        </li>
      ))}
      {left > 0 && <li>{left} more, not shown</li>}
    </ul>
  );

export const ClaimsSection = ({ view: { claimed } }: { view: ApprovalView }) => {
  const { amount_cents, currency, arguments: args } = claimed;
  const money = amount_cents === null || currency === null ? null : { amount_cents, currency };
  const rest = Object.entries(args).filter(([name, value]) => !isPartOfMoney(name, value, money));
  return (
    <section class="card claims" aria-labelledby="claims">
      <h2 id="claims">What the agent claims, unchecked</h2>
      <p class="says">Written by a language model. Nobody has checked it.</p>
      <dl>
        {money !== null && (
          <Fact label="Amount" figure>
            <Money cents={money.amount_cents} currency={money.currency} />
          </Fact>
        )}
        {rest.map(([name, value]) => (
          <Fact label={<Outside value={wordsOf(name)} />}>
            {claimed.bounded.includes(name) ? <bdi>{textOf(value)}</bdi> : <Outside value={textOf(value)} />}
          </Fact>
        ))}
        {money === null && rest.length === 0 && <Fact label="Arguments">none</Fact>}
      </dl>
    </section>
  );
};

/** What was done, as the tool answered: amounts are written as such where the currency is known. */
export const AnswerList = ({ answer, currency }: { answer: JsonObject; currency: string | null }) => (
  <dl>
    {Object.entries(answer).map(([name, value]) =>
      currency !== null && name.endsWith('_cents') && isAmount(value) ? (
        <Fact label={wordsOf(name.slice(0, -'_cents'.length))} figure>
          <Money cents={value} currency={currency} />
        </Fact>
      ) : (
        <Fact label={<Outside value={wordsOf(name)} />}>
          <Outside value={textOf(value)} />
        </Fact>
      ),
    )}
  </dl>
);

const textOf = (value: JsonValue): string => (typeof value === 'string' ? value : JSON.stringify(value));

const isAmount = (value: JsonValue): value is number => Number.isSafeInteger(value) && Number(value) >= 0;

/** `store_credit` -> `Store credit`, `account_id` -> `Account ID`. */
export function wordsOf(name: string): string {
  const words = name.replaceAll('_', ' ').replace(/\bid\b/g, 'ID');
  return words.slice(0, 1).toUpperCase() + words.slice(1);
}
