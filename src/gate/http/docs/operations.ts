/** Every operation of the HTTP surface, in the order of its readers. A test holds this list to the routes there are. */
import * as z from 'zod';
import { DecisionFields } from '../approver/approval-page-form.ts';
import { json, text, type Answer, type Operation } from '../shared/operation.ts';
import { adminOperations } from '../operator/operations-admin.ts';
import { agentOperations } from '../agent/operations-agent.ts';
import { health, readiness } from '../agent/wire.ts';

const HTML = 'text/html';
const page = (description: string): Answer => text(description, HTML);
const link = { params: { id: z.string() }, query: { t: z.string().describe("The link's token.") } } as const;

const approverPages: Operation[] = [
  {
    method: 'get',
    path: '/approvals/{id}',
    id: 'viewApproval',
    summary: "The approver's page; looking changes nothing",
    credential: 'approver',
    ...link,
    answers: {
      200: page('The page.'),
      404: page('The link opens nothing.'),
      503: page('Cannot be answered now.'),
    },
    problems: [],
  },
  {
    method: 'post',
    path: '/approvals/{id}',
    id: 'decideApproval',
    summary: "The approver's decision, from the page's own form",
    credential: 'approver',
    ...link,
    form: DecisionFields,
    answers: {
      303: { description: 'Decided.', headers: ['Location'] },
      403: page('Not sent from the page itself.'),
      404: page('The link opens nothing.'),
      409: page('Decided already, expired, or shown figures have changed.'),
      413: page('Not the form of the page.'),
      415: page('Not the form of the page.'),
      422: page('No choice, or a wrong phrase: the page again.'),
      503: page('Cannot be decided now; still pending.'),
    },
    problems: [],
  },
];

const open = (path: string, id: string, summary: string, answer: Answer): Operation => ({
  method: 'get',
  path,
  id,
  summary,
  credential: null,
  answers: { 200: answer },
  problems: [],
});

const openPages: Operation[] = [
  open('/docs', 'docs', 'How to use this gate', page('The page.')),
  open('/docs/problems', 'listProblems', 'All problem types', page('The page.')),
  {
    ...open('/docs/problems/{slug}', 'explainProblem', 'What a problem type means', page('The page.')),
    params: { slug: z.string() },
    problems: ['not-found'],
  },
  open('/openapi.json', 'openapi', 'This description', {
    description: 'OpenAPI 3.1.',
    content: { 'application/json': null },
  }),
  open('/llms.txt', 'llms', 'How to use this gate, for models', text('Markdown.', 'text/plain')),
  open('/healthz', 'healthz', 'Is it up', json('It is.', health)),
  open('/readyz', 'readyz', 'Can it serve', json('It can.', readiness)),
];

export const operations: readonly Operation[] = [
  ...agentOperations,
  ...approverPages,
  ...adminOperations,
  ...openPages,
];
