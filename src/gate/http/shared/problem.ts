/**
 * Refusals of the HTTP surface as RFC 9457 problems. Whatever the reason, one status has one wording, so that an answer
 * tells an attacker nothing (which half of a key was wrong, whether a session exists); the reason goes to the log line.
 * Outcomes of calls are not problems: they are HTTP 200.
 */
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { HttpContext } from './context.ts';

/** One problem type as `/docs/problems/{slug}` explains it. */
export type ProblemType = {
  status: ContentfulStatusCode;
  title: string;
  /** What happened, and what to do about it. */
  explanation: string;
  headers?: Record<string, string>;
};

/** Failed credentials are counted per minute (the rate-limit binding's period), polls too. */
const RETRY_AFTER_A_MINUTE = { 'Retry-After': '60' };

/** Every problem type there is (docs/specification.md#requests-and-problems), once. */
export const PROBLEM_TYPES = {
  'invalid-json': {
    status: 400,
    title: 'The body is not acceptable JSON',
    explanation:
      'The body must be exactly one JSON value in UTF-8. Refused, never repaired: text around the value, comments, NaN, a ' +
      'member name used twice in one object, half a surrogate pair, numbers out of range, nesting beyond 64 levels, a byte ' +
      'order mark. The request took no step: serialise the body with a JSON library and send it again.',
  },
  unauthorized: {
    status: 401,
    title: 'A valid credential is needed',
    explanation:
      'Send one header "Authorization: Bearer <credential>": an API key on /v1/sessions, a session token on the other /v1 ' +
      'routes and on /mcp, the operator token on /admin. The answer is the same whether the credential is missing, malformed, ' +
      'unknown, expired or revoked, and whether its session was ended. For a new session token, open or rejoin the session.',
    headers: { 'WWW-Authenticate': 'Bearer realm="toolgate"' },
  },
  forbidden: {
    status: 403,
    title: 'This is not allowed',
    explanation:
      'This may not be done with this credential, or not from a page of this origin. Sending it again will not help.',
  },
  'policy-widened': {
    status: 403,
    title: 'A session may only narrow its policy',
    explanation:
      'A field of the body asks for more than the policy of the caller allows, or, on a rejoin, for more than the session ' +
      'was opened with. "detail" names the field. Leave it out to keep what is in force, or ask the operator for a wider policy.',
  },
  'not-found': {
    status: 404,
    title: 'There is nothing here',
    explanation:
      'No such route, or no such session, approval or caller for this credential. What belongs to somebody else is answered ' +
      'exactly as what does not exist.',
  },
  'method-not-allowed': {
    status: 405,
    title: 'This method is not allowed here',
    explanation: 'The path exists, but not with this method. The header "Allow" lists the methods it takes.',
  },
  'session-conflict': {
    status: 409,
    title: 'This does not fit the state it meets',
    explanation:
      'The session was ended, or was opened with another customer_id or requested_by (both are fixed at opening; "detail" ' +
      'names the field), or the approval is no longer pending. Use another session_id, or ask for the present state first.',
  },
  'body-too-large': {
    status: 413,
    title: 'The body is too large',
    explanation: 'A body may hold 64 KiB; 1 MiB on /v1/calls/{provider} and /mcp. The request took no step.',
  },
  'unsupported-media-type': {
    status: 415,
    title: 'The body must be plain application/json',
    explanation:
      'Send "Content-Type: application/json" (with no parameter, or charset=utf-8) and no Content-Encoding. The request took no step.',
  },
  misdirected: {
    status: 421,
    title: 'This address is not served here',
    explanation:
      'Scheme and host must be those of the URL this deployment is published under. A credential that was sent over plain http may have been read: rotate it.',
  },
  'invalid-body': {
    status: 422,
    title: 'The request does not have the expected members',
    explanation:
      'A member of the body, a parameter of the query string, or the header Idempotency-Key is missing, unknown or of the wrong type or form. "detail" ' +
      'names each of them and what is expected; it never repeats a value. The request took no step.',
  },
  'too-many-requests': {
    status: 429,
    title: 'Too many requests',
    explanation:
      'Too many failed credentials from this address, too many polls of the approvals of one session, or one call_id was sent again ' +
      'too often. Wait as long as the header "Retry-After" says. Without that header, waiting does not help: a call_id that was ' +
      'sent again ten times is used up.',
    headers: RETRY_AFTER_A_MINUTE,
  },
  'session-exhausted': {
    status: 429,
    title: 'This session takes no more calls',
    explanation:
      'The session had used up its steps and was still called a hundred times. It stays closed for calls, so waiting does not ' +
      'help: stop the agent, look for its loop, and open another session.',
  },
  'not-configured': {
    status: 503,
    title: 'This deployment is not configured yet',
    explanation:
      'A variable or secret is missing or not of its form; its name is in the log of the deployment. Nothing is served until it is set.',
  },
  unavailable: {
    status: 503,
    title: 'This cannot be answered right now',
    explanation:
      'Something the answer depends on could not be reached, or failed. The header "X-Request-Id" finds the cause in the log. ' +
      'Sending the same request again is safe; a call with its call_id is not made twice.',
    headers: { 'Retry-After': '5' },
  },
} as const satisfies Record<string, ProblemType>;

export type ProblemSlug = keyof typeof PROBLEM_TYPES;

/** The problems whose `detail` may name fields; every other one has a single wording. */
type NamingSlug = 'invalid-body' | 'policy-widened' | 'session-conflict';

/**
 * What the log learns (`reason`), what the client learns besides the wording (`detail`: names, never values), and headers; null
 * leaves one of the problem type's own out.
 */
export type ProblemOptions<Slug extends ProblemSlug> = {
  reason: string;
  headers?: Record<string, string | null>;
  /** Extension members (RFC 9457, 3.2), in fixed words. */
  members?: Record<string, string>;
} & (Slug extends NamingSlug ? { detail?: string } : { detail?: never });

/** Answers with a problem and leaves its reason for the log line. */
export function problem<Slug extends ProblemSlug>(c: HttpContext, slug: Slug, options: ProblemOptions<Slug>): Response {
  const type: ProblemType = PROBLEM_TYPES[slug];
  c.set('reason', options.reason);
  const body = {
    type: problemUrl(publicUrlOf(c), slug),
    title: type.title,
    status: type.status,
    ...(options.detail === undefined ? {} : { detail: options.detail }),
    ...options.members,
  };
  const headers = Object.entries({ ...type.headers, ...options.headers }).filter(([, value]) => value !== null);
  return c.body(JSON.stringify(body), type.status, {
    'Content-Type': 'application/problem+json',
    'Cache-Control': 'no-store',
    ...(Object.fromEntries(headers) as Record<string, string>),
  });
}

/** Where a problem type is explained. */
export const problemUrl = (publicUrl: string, slug: ProblemSlug): string => `${publicUrl}/docs/problems/${slug}`;

/** Empty, so that URLs are relative, while PUBLIC_URL is not known: no other name of this deployment can be trusted. */
function publicUrlOf(c: HttpContext): string {
  const config: HttpContext['var']['config'] | undefined = c.get('config');
  return config?.publicUrl ?? c.get('publicUrl') ?? '';
}
