/** What operators may ask. */
import * as z from 'zod';
import { ApprovalsQuery } from './admin-approvals.ts';
import { AuditQuery, HeadsQuery } from './admin-audit.ts';
import { LedgerQuery } from './admin-ledger.ts';
import { CallerPatchBody, NewCallerBody, RotationBody } from './caller-bodies.ts';
import { json, type Operation } from '../shared/operation.ts';
import {
  approvalAction,
  approvalList,
  attemptPage,
  auditPage,
  callerList,
  chainHeads,
  changedCaller,
  newCaller,
  rotatedKey,
} from './wire-admin.ts';

const id = { id: z.string() };
const TOLD = 'Done, and every open session knows.';
const TOLD_LATER = 'Done; some open sessions will hear of it from the queue, and are counted.';

const callers: Operation[] = [
  {
    method: 'get',
    path: '/admin/callers',
    id: 'listCallers',
    summary: 'All callers, revoked ones included',
    credential: 'operator',
    answers: { 200: json('The callers, oldest first.', callerList) },
    problems: [],
  },
  {
    method: 'post',
    path: '/admin/callers',
    id: 'createCaller',
    summary: 'Makes a caller; shows its API key this once',
    credential: 'operator',
    body: NewCallerBody,
    answers: { 201: json('Made.', newCaller) },
    problems: [],
  },
  {
    method: 'patch',
    path: '/admin/callers/{id}',
    id: 'changeCaller',
    summary: 'Changes settings of a caller; absent ones stay',
    credential: 'operator',
    params: id,
    body: CallerPatchBody,
    answers: { 200: json(TOLD, changedCaller), 202: json(TOLD_LATER, changedCaller) },
    problems: ['not-found'],
  },
  {
    method: 'delete',
    path: '/admin/callers/{id}',
    id: 'revokeCaller',
    summary: 'Revokes a caller for good; no effect of it is applied after the answer',
    credential: 'operator',
    params: id,
    answers: { 200: json(TOLD, changedCaller), 202: json(TOLD_LATER, changedCaller) },
    problems: ['not-found'],
  },
  {
    method: 'post',
    path: '/admin/callers/{id}/rotate',
    id: 'rotateKey',
    summary: 'Gives a caller a new API key; the old one ends after its grace',
    credential: 'operator',
    params: id,
    body: RotationBody,
    answers: { 200: json('Rotated.', rotatedKey), 202: json('Rotated; some sessions did not answer.', rotatedKey) },
    problems: ['not-found'],
  },
];

const approvals: Operation[] = [
  {
    method: 'get',
    path: '/admin/approvals',
    id: 'listApprovals',
    summary: 'Approvals and the delivery of their mails, newest first',
    credential: 'operator',
    query: ApprovalsQuery.shape,
    answers: { 200: json('A page of approvals; never a link.', approvalList) },
    problems: ['invalid-body'],
  },
  {
    method: 'post',
    path: '/admin/approvals/{id}/resend',
    id: 'resendApproval',
    summary: 'Sends the mails of a pending approval again',
    credential: 'operator',
    params: id,
    answers: { 200: json('They are on their way.', approvalAction) },
    problems: ['not-found', 'session-conflict'],
  },
  {
    method: 'post',
    path: '/admin/approvals/{id}/withdraw',
    id: 'withdrawApproval',
    summary: 'Withdraws a pending approval',
    credential: 'operator',
    params: id,
    answers: { 200: json('Withdrawn.', approvalAction) },
    problems: ['not-found', 'session-conflict'],
  },
];

const proofs: Operation[] = [
  {
    method: 'get',
    path: '/admin/audit',
    id: 'listAudit',
    summary: 'The audit: the newest session first, its rows by seq',
    description: 'With `Accept: application/x-ndjson` all rows come as one stream, one JSON a line.',
    credential: 'operator',
    query: AuditQuery.shape,
    answers: {
      200: { description: 'A page of rows.', content: { 'application/json': auditPage, 'application/x-ndjson': null } },
    },
    problems: ['invalid-body'],
  },
  {
    method: 'get',
    path: '/admin/audit/heads',
    id: 'listChainHeads',
    summary: "Where each session's chain ends, by the word of its object",
    credential: 'operator',
    query: HeadsQuery.shape,
    answers: { 200: json('A page of heads.', chainHeads) },
    problems: ['invalid-body'],
  },
  {
    method: 'get',
    path: '/admin/ledger',
    id: 'listAttempts',
    summary: 'The attempts of the ledger: which were applied, which never will be',
    credential: 'operator',
    query: LedgerQuery.shape,
    answers: { 200: json('A page of attempts.', attemptPage) },
    problems: ['invalid-body'],
  },
];

export const adminOperations: readonly Operation[] = [...callers, ...approvals, ...proofs];
