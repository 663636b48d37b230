/**
 * The texts of the mails. They hold values of closed sets and patterns and the name that the operator gave the caller. Text
 * that an agent could have written is shown only on the page. The subject is fixed text and an id, because a notification
 * shows it on a locked screen; the link is in the body.
 */
import type { JsonValue } from '../json.ts';
import { formatMoney, isPartOfMoney } from '../money/money.ts';
import { limitMessage } from '../outcome.ts';
import type { Money, OtherApproval } from '../ports.ts';
import type { ApprovalView, MailTask } from '../session/rpc.ts';
import { toDay, toMinute } from '../time.ts';
import { letterHtml, letterText, type Fact, type Letter } from './letter.tsx';

export type Mail = { subject: string; text: string; html: string };
export type ApprovalTask = Extract<MailTask, { kind: 'approval' }>;
export type DecidedTask = Extract<MailTask, { kind: 'decided' }>;
export type NoticeTask = Extract<MailTask, { kind: 'notice' }>;

/** A longer list is for the page: past this many, what matters is that there are many. */
const MAX_OTHERS = 10;

/** Asks one approver for a decision. */
export function approvalMail({ view, link }: ApprovalTask): Promise<Mail> {
  return mailOf(`Toolgate: your decision is needed (${view.id})`, {
    heading: 'An action waits for your decision',
    opening: 'An agent asked for the action below. It is not done, and will not be unless an approver approves it.',
    sections: [
      { title: 'The request', tone: 'plain', facts: requestFacts(view) },
      { title: 'What the system of record says', tone: 'ledger', facts: recordFacts(view) },
      { title: 'What the agent claims, unchecked', tone: 'unchecked', facts: claimedFacts(view) },
    ],
    link: { label: 'Open the request and decide', url: link },
    closing: [
      'Keep this link to yourself: anyone who has it can decide in your name. Opening it changes nothing.',
      'If you do nothing, the request expires by itself and the action is not done.',
    ],
  });
}

/** Tells an approver that another one decided. Asks for nothing and holds no link. */
export const decidedMail = ({ approval_id, caller_name, at, isRejected }: DecidedTask): Promise<Mail> =>
  mailOf(`Toolgate: decided by another approver (${approval_id})`, {
    heading: 'Decided by another approver',
    opening: `Another approver ${isRejected ? 'rejected' : 'approved'} the request below. You need not do anything.`,
    sections: [
      {
        title: 'The request',
        tone: 'plain',
        facts: [
          { label: 'Application', value: caller_name },
          { label: 'Request', value: approval_id },
          { label: 'Decided at', value: toMinute(at) },
        ],
      },
    ],
    link: null,
    closing: ['The link that you were mailed shows what came of it.'],
  });

/** Tells an approver that a limit of the policy refused an action. Asks for nothing and holds no link. */
export function noticeMail(task: NoticeTask): Promise<Mail> {
  const { caller_name, tool, limit, money, at } = task;
  const amount = (amount_cents: number, currency: string): string => formatMoney({ amount_cents, currency });
  return mailOf('Toolgate: an action above its limits was refused', {
    heading: 'An action above its limits was refused',
    opening: 'An agent asked for an action that the policy of its application does not allow. It was not done.',
    sections: [
      {
        title: 'What the gate did',
        tone: 'plain',
        facts: [
          { label: 'Application', value: caller_name },
          { label: 'Refused at', value: toMinute(at) },
          { label: 'Why', value: limitMessage(limit, amount) },
        ],
      },
      {
        title: 'What the agent claims, unchecked',
        tone: 'unchecked',
        facts: [{ label: 'Tool', value: tool }, ...amountFact(money)],
      },
    ],
    link: null,
    closing: ['You need not answer. If the action is right, a person must do it in the system of record.'],
  });
}

const mailOf = async (subject: string, letter: Letter): Promise<Mail> => ({
  subject,
  text: letterText(letter),
  html: await letterHtml(letter),
});

function requestFacts({ caller_name, id, opened_at, expires_at }: ApprovalView): Fact[] {
  return [
    { label: 'Application', value: caller_name },
    { label: 'Request', value: id },
    { label: 'Asked at', value: toMinute(opened_at) },
    { label: 'Expires at', value: toMinute(expires_at) },
  ];
}

function recordFacts({ facts, others, others_left }: ApprovalView): Fact[] {
  if (facts === null)
    return [{ label: 'Facts', value: 'could not be read when this mail was written; the page reads them again' }];
  const count = others.length + others_left;
  return [
    // A mail client makes a link of any word that looks like one.
    ...facts.map(({ label, value, outside }) => ({
      label,
      value: outside === true || LINKED.test(value) ? 'shown on the page only' : value,
    })),
    { label: 'Other requests for the same, last 30 days', value: count === 0 ? 'none' : String(count) },
    ...others.slice(0, MAX_OTHERS).map((other) => ({ label: other.id, value: otherValue(other) })),
  ];
}

function otherValue({ amount_cents, currency, status, opened_at }: OtherApproval): string {
  const amount = amount_cents === null || currency === null ? [] : [formatMoney({ amount_cents, currency })];
  return [...amount, status, `asked on ${toDay(opened_at)}`].join(', ');
}

function claimedFacts({ tool, claimed }: ApprovalView): Fact[] {
  const money = moneyOf(claimed);
  const args = Object.entries(claimed.arguments).filter(([name, value]) => !isPartOfMoney(name, value, money));
  const shown = args.filter(([name, value]) => claimed.bounded.includes(name) && !LINKED.test(textOf(value)));
  const left = args.length - shown.length;
  return [
    { label: 'Tool', value: tool },
    ...amountFact(money),
    ...shown.map(([name, value]) => ({ label: name, value: textOf(value) })),
    ...(left === 0 ? [] : [{ label: 'Further arguments', value: `${left}, shown on the page only` }]),
  ];
}

const textOf = (value: JsonValue): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** Mail clients make links of these, and a mail holds one link: that to the page. */
const LINKED = /https?:|ftp:|mailto:|www\.|@|[a-z0-9-]\.[a-z]{2,}/i;

const amountFact = (money: Money | null): Fact[] =>
  money === null ? [] : [{ label: 'Amount', value: formatMoney(money) }];

const moneyOf = ({ amount_cents, currency }: ApprovalView['claimed']): Money | null =>
  amount_cents === null || currency === null ? null : { amount_cents, currency };
