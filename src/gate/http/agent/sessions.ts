/** Opening, rejoining and ending sessions with a caller's API key (docs/specification.md#sessions). */
import { Hono } from 'hono';
import * as z from 'zod';
import { signSessionToken } from '../../auth/tokens.ts';
import { MAX_ADDRESS_CHARACTERS } from '../../ports.ts';
import type { OpenAnswer, SessionPolicy } from '../../session/rpc.ts';
import { timestamp } from '../../time.ts';
import { readJsonBody } from '../shared/body.ts';
import { sessionStub, type HttpContext, type HttpEnv } from '../shared/context.ts';
import { authenticateCaller, refuseCredential } from '../shared/credentials.ts';
import { describeRoute, json, once } from '../shared/operation.ts';
import { problem } from '../shared/problem.ts';

const SessionId = z.string().regex(/^[A-Za-z0-9._:-]{1,128}$/, 'must be 1 to 128 letters, digits, ., _, : or -');

/** Checks forms and ranges. The session object decides whether a value widens the policy. */
export const OpenBody = z.strictObject({
  session_id: SessionId.exactOptional().describe('Your name for the conversation; made up if absent.'),
  customer_id: z
    .string()
    .regex(/^[\x21-\x7e]{1,128}$/, 'must be 1 to 128 printable ASCII characters without spaces')
    .exactOptional()
    .describe('The only customer this session may see. Fixed at opening.'),
  requested_by: z
    .email()
    .max(MAX_ADDRESS_CHARACTERS)
    .exactOptional()
    .describe('Who asks; never asked to approve. Fixed at opening.'),
  tools: z.array(z.string()).exactOptional().describe('Narrows the tools.'),
  max_steps: z.int().min(1).exactOptional().describe('Narrows the number of calls.'),
  max_refund_cents: z.int().min(0).exactOptional().describe('Narrows what one refund may move.'),
  max_session_refund_cents: z.int().min(0).exactOptional().describe('Narrows what the session may move.'),
  ttl_seconds: z.int().min(60).max(86_400).default(3_600).describe('How long the token is good.'),
});

const sessionPolicy = once(() => {
  const minorUnits = (what: string) => z.int().min(0).describe(`${what}, in minor units.`);
  const limits = {
    max_refund_cents: minorUnits('The most one refund may move'),
    max_session_refund_cents: minorUnits('The most the session may move, open requests included').nullable(),
    confirm_above_cents: minorUnits('Refunds above this need a person'),
  };
  return z.strictObject({
    tools: z.array(z.string()),
    max_steps: z.int().min(1).describe('Calls the session may make, refused ones included.'),
    max_duplicate_calls: z.int().min(1).describe('How often one call may be repeated.'),
    ...limits,
    limits: z
      .record(z.string(), z.strictObject(limits))
      .describe('By ISO 4217 code; the members above are for other currencies with two decimals.'),
    customer_id: z.string().exactOptional().describe('The only customer whose orders and accounts exist here.'),
    approvers: z.int().min(0).describe('How many people are asked.'),
  }) satisfies z.ZodType<SessionPolicy>;
});

const openedSession = once(() =>
  z
    .strictObject({
      session_id: z.string(),
      token: z.string().describe("The agent's credential for this session."),
      expires_at: z.iso.datetime().describe('When the token ends; rejoining gives another.'),
      policy: sessionPolicy(),
    })
    .meta({ id: 'OpenedSession' }),
);

const endedSession = once(() =>
  z.strictObject({ session_id: z.string(), ended_at: z.iso.datetime() }).meta({ id: 'EndedSession' }),
);

const openSession = describeRoute(() => ({
  id: 'openSession',
  summary: 'Opens a session, or rejoins it and gives another token',
  description:
    "A session only narrows its caller's policy, and a rejoin only narrows the session's: absent members keep theirs. A rejoin never resets a budget.",
  credential: 'caller',
  body: OpenBody.meta({ id: 'SessionToOpen' }),
  answers: { 201: json('Opened.', openedSession()), 200: json('Rejoined.', openedSession()) },
  problems: ['policy-widened', 'session-conflict'],
}));

const endSession = describeRoute(() => ({
  id: 'endSession',
  summary: 'Ends a session and its tokens',
  credential: 'caller',
  params: { id: SessionId },
  answers: { 200: json('Ended, now or before.', endedSession()) },
  problems: ['not-found'],
}));

export const sessions = new Hono<HttpEnv>()
  .post('/', openSession, async (c) => {
    const caller = await authenticateCaller(c);
    if (caller instanceof Response) return caller;
    const body = await readJsonBody(c, OpenBody);
    if (body instanceof Response) return body;

    const sessionId = body.session_id ?? `ses_${crypto.randomUUID().replaceAll('-', '')}`;
    const request = { ...body, ...caller, session_id: sessionId };
    const answer = await sessionStub(c.env, caller.caller_id, sessionId).open(request);
    if ('refused' in answer) return refuseOpening(c, answer);

    const claims = { caller: caller.caller_id, session: sessionId, uid: answer.uid, expiresAt: answer.expires_at };
    return c.json(
      {
        session_id: sessionId,
        token: await signSessionToken(c.get('config'), claims),
        expires_at: timestamp(answer.expires_at),
        policy: answer.policy,
      } satisfies z.output<ReturnType<typeof openedSession>>,
      answer.opened === 'new' ? 201 : 200,
    );
  })
  .delete('/:id', endSession, async (c) => {
    const caller = await authenticateCaller(c);
    if (caller instanceof Response) return caller;
    const sessionId = c.req.param('id');
    if (!SessionId.safeParse(sessionId).success) return problem(c, 'not-found', { reason: 'malformed_session_id' });
    const answer = await sessionStub(c.env, caller.caller_id, sessionId).end(null);
    if ('refused' in answer) return problem(c, 'not-found', { reason: 'unknown_session' });
    return c.json({ session_id: sessionId, ended_at: timestamp(answer.ended_at) });
  });

function refuseOpening(c: HttpContext, answer: Extract<OpenAnswer, { refused: string }>): Response | Promise<Response> {
  const conflict = (reason: string, detail: string) => problem(c, 'session-conflict', { reason, detail });
  const invalid = (detail: string) => problem(c, 'invalid-body', { reason: answer.refused, detail });
  switch (answer.refused) {
    case 'revoked':
      return refuseCredential(c, 'caller_or_key_not_live');
    case 'ended':
      return conflict('ended', 'session_id names a session that was ended');
    case 'conflict':
      return conflict(`fixed_${answer.field}`, `${answer.field} is fixed when the session opens and differs`);
    case 'customer_required':
      return invalid("customer_id is required by this caller's policy");
    case 'customer_pattern':
      return invalid("customer_id must look like the customer ids of this caller (its policy's customer_pattern)");
    case 'widened':
      return problem(c, 'policy-widened', {
        reason: `widened_${answer.field}`,
        detail: `${answer.field} is wider than what is in force; a session may only narrow it`,
      });
  }
}
