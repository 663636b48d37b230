/** What an approver's browser posts. The order of docs/specification.md#requests-and-problems: content type, length, body. */
import * as z from 'zod';
import type { DecisionRequest } from '../../session/rpc.ts';
import { hasPlainBody, MAX_BODY_BYTES, readAtMost } from '../shared/body.ts';

export const MAX_NOTE_CHARACTERS = 500;

export type DecisionForm = Pick<DecisionRequest, 'decision' | 'phrase' | 'shown'> & { note: string };

export type FormReading =
  | { ok: true; form: DecisionForm }
  | { ok: false; status: 413 | 415 | 422; reason: 'content_type' | 'body_too_large' | 'body_cut' | 'repeated_field' };

/** The fields as the page posts them. Whatever else comes is no refusal here: the page is shown again and says what is due. */
export const DecisionFields = z.object({
  decision: z.enum(['approve', 'reject']),
  phrase: z.string().describe('The digits of the amount, or the last six characters of the id, as the page asks.'),
  note: z.string().max(MAX_NOTE_CHARACTERS).exactOptional().describe('For the agent.'),
  shown: z.string().exactOptional().describe('Digests of the facts that the page showed, as its form holds them.'),
}) satisfies z.ZodType<{ [Field in keyof DecisionForm]?: string }>;

const FIELDS = Object.keys(DecisionFields.shape);

/**
 * Reads the form, or says why not. Only a plain form is read: JSON and multipart can be posted by other means than this
 * page. A repeated field is refused, because two readers of it could take two decisions; fields of other names are nothing.
 */
export async function readDecisionForm(request: Request): Promise<FormReading> {
  if (!hasPlainBody(request.headers, 'application/x-www-form-urlencoded'))
    return { ok: false, status: 415, reason: 'content_type' };
  const body = await readAtMost(request, MAX_BODY_BYTES);
  if (!body.ok) return { ...body, status: body.reason === 'body_cut' ? 422 : 413 };
  const posted = new URLSearchParams(new TextDecoder().decode(body.bytes));
  if (FIELDS.some((name) => posted.getAll(name).length > 1))
    return { ok: false, status: 422, reason: 'repeated_field' };
  return {
    ok: true,
    form: {
      decision: decisionOf(posted.get('decision')),
      phrase: posted.get('phrase') ?? '',
      // A form sends each line break as two characters (HTML, "normalize newlines"); the writer counts one.
      note: (posted.get('note') ?? '').replaceAll('\r\n', '\n').trim(),
      shown: posted.get('shown') ?? '',
    },
  };
}

/** Characters as a person counts them, so that an emoji is not two. */
export const noteIsTooLong = (note: string): boolean => Array.from(note).length > MAX_NOTE_CHARACTERS;

const decisionOf = (value: string | null): DecisionForm['decision'] =>
  value === 'approve' || value === 'reject' ? value : null;
