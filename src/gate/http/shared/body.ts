/**
 * Reads bodies in the order of docs/specification.md#requests-and-problems: content type, length, strict JSON, schema.
 * Hono's own validators are not used
 * for bodies: they read a wrong content type as `{}` and let the last of two equal names win.
 */
import type * as z from 'zod';
import { parseStrictJson } from '../../json.ts';
import { shownMemberName } from '../../outcome.ts';
import '../../schema-messages.ts';
import type { SessionClaims } from '../../auth/tokens.ts';
import type { HttpContext } from './context.ts';
import { refuseAgent, refuseCredential } from './credentials.ts';
import { problem } from './problem.ts';

export const MAX_BODY_BYTES = 64 * 1024;

const MAX_PROBLEMS = 20;

/**
 * The body as `schema` describes it, or the problem to answer with. The credential must have been checked before: a
 * stranger learns nothing about what a body should look like, and costs no reading.
 */
export async function readJsonBody<Schema extends z.ZodType>(
  c: HttpContext,
  schema: Schema,
  maxBytes = MAX_BODY_BYTES,
): Promise<z.output<Schema> | Response> {
  if (!hasPlainBody(c.req.raw.headers, 'application/json'))
    return problem(c, 'unsupported-media-type', { reason: 'content_type' });
  const body = await readAtMost(c.req.raw, maxBytes);
  if (!body.ok)
    return problem(c, body.reason === 'body_cut' ? 'invalid-json' : 'body-too-large', { reason: body.reason });
  const text = decodeUtf8(body.bytes);
  if (text === null) return problem(c, 'invalid-json', { reason: 'invalid_utf8' });
  const reading = parseStrictJson(text);
  if (!reading.ok) return problem(c, 'invalid-json', { reason: reading.reason });
  const parsed = schema.safeParse(reading.value);
  if (parsed.success) return parsed.data;
  const detail = describeMisfits(parsed.error, 'body');
  return problem(c, 'invalid-body', { reason: 'schema', detail });
}

/** The body of an agent's request, whose token must still be good when it has come: its sender may take as long as it likes. */
export async function readAgentBody<Schema extends z.ZodType>(
  c: HttpContext,
  agent: SessionClaims,
  schema: Schema,
  maxBytes = MAX_BODY_BYTES,
): Promise<z.output<Schema> | Response> {
  const body = await readJsonBody(c, schema, maxBytes);
  if (Date.now() >= agent.expiresAt) return refuseCredential(c, 'session_token_expired');
  return body instanceof Response ? refuseAgent(c, agent, body) : body;
}

/**
 * A body of that type, with no parameter but charset=utf-8. An encoded body is refused: its size could not be judged before it
 * is unpacked.
 */
export function hasPlainBody(headers: Headers, mediaType: string): boolean {
  const contentType = headers.get('content-type') ?? '';
  // Nothing that only some readers take for a blank.
  if (headers.has('content-encoding') || !/^[\t -~]*$/.test(contentType)) return false;
  const [type, ...parameters] = contentType.split(';').map((part) => part.trim().toLowerCase());
  // Empty parameters are ignored (RFC 9110, 5.6.6).
  return type === mediaType && parameters.every((each) => /^(?:charset=(?:utf-8|"utf-8"))?$/.test(each));
}

export type BodyReading = { ok: true; bytes: ArrayBuffer } | { ok: false; reason: 'body_too_large' | 'body_cut' };

/**
 * A declared length beyond the limit is refused unread, an undeclared one is kept no further than that. What is left of it is
 * for `discardBody`.
 */
export async function readAtMost(request: Request, maxBytes: number): Promise<BodyReading> {
  if (Number(request.headers.get('content-length') ?? 0) > maxBytes) return { ok: false, reason: 'body_too_large' };
  const stream = request.body as ReadableStream<Uint8Array> | null;
  if (stream === null) return { ok: true, bytes: new ArrayBuffer() };
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of stream.values({ preventCancel: true })) {
      size += chunk.byteLength;
      if (size > maxBytes) return { ok: false, reason: 'body_too_large' };
      chunks.push(chunk);
    }
  } catch {
    // Its sender has gone in the middle of it, or framed it wrongly: no outage of ours.
    return { ok: false, reason: 'body_cut' };
  }
  return { ok: true, bytes: await new Blob(chunks).arrayBuffer() };
}

/** What a refused sender may still send, and for how long, before the connection is cut. */
const MAX_DISCARDED_BYTES = 16 * 1024 * 1024;
const MAX_DISCARDING_MS = 10_000;

/**
 * Reads and drops the rest of a body. A connection that is closed with unread bytes is reset, and its sender loses the
 * answer (RFC 9112, 9.6). Beyond the limits the body is cut, because a body may never end.
 */
export async function discardBody({ body }: Request): Promise<void> {
  // What broke off under its reader stays locked in workerd: nothing is left of it.
  if (body === null || body.locked) return;
  const reader = (body as ReadableStream<Uint8Array>).getReader();
  const tooLong = setTimeout(() => void reader.cancel().catch(() => undefined), MAX_DISCARDING_MS);
  try {
    for (let left = MAX_DISCARDED_BYTES; left >= 0;) {
      const { done, value } = await reader.read();
      if (done) return;
      left -= value.byteLength;
    }
    await reader.cancel();
  } catch {
    // Its sender has gone, and hears nothing more.
  } finally {
    clearTimeout(tooLong);
  }
}

/** Null where it is not UTF-8. A byte order mark is kept, for the JSON reader to refuse. */
function decodeUtf8(bytes: ArrayBuffer): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

/** Names each member that does not fit and what is wrong with it, never a value. */
function describeMisfits(error: z.core.$ZodError, root: string): string {
  return error.issues
    .flatMap(({ path, message, ...issue }) =>
      issue.code === 'unrecognized_keys'
        ? issue.keys.map((key) => `${shownPath([...path, key])} is unknown; remove it`)
        : [`${shownPath(path) || root} ${message}`],
    )
    .slice(0, MAX_PROBLEMS)
    .join('; ');
}

/** The problem of a query string that its schema does not fit. */
export const refuseQuery = (c: HttpContext, error: z.core.$ZodError): Response =>
  problem(c, 'invalid-body', { reason: 'query', detail: `query: ${describeMisfits(error, 'query')}` });

const shownPath = (path: readonly PropertyKey[]): string =>
  path.map((part) => (typeof part === 'number' ? String(part) : shownMemberName(String(part)))).join('.');
