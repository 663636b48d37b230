import * as z from 'zod';
import { defineTool, outside } from '../../gate/index.ts';
import { DOCUMENT_STATUS, documents } from './documents.ts';

const DOC_ID = z.string().regex(/^[a-z0-9-]{3,40}$/, 'must look like kc-warranty-v2');

export const lookupDocument = defineTool({
  name: 'lookup_document',
  description:
    'Looks up one help-centre document by its id: title, version, language, and whether it is current or superseded. Use it before citing a document; never cite a superseded one.',
  effect: 'none',
  risky: false,
  reads: { documents },
  input: z.strictObject({
    doc_id: DOC_ID.describe('Document id: lower-case letters, digits and hyphens, such as kc-warranty-v2.'),
  }),
  example: { doc_id: 'kc-warranty-v2' },
  output: z.strictObject({
    id: DOC_ID.describe('The id that was asked for.'),
    title: outside('plain').describe('Title of the document.'),
    version: outside('plain').describe('Version of the document, such as 2.'),
    status: DOCUMENT_STATUS.describe('Whether it still holds.'),
    lang: outside('plain').describe('Language of the document, such as en.'),
  }),
  codes: { DOCUMENT_NOT_FOUND: () => 'No such document exists. Check the document id.' },
  async run({ doc_id }, { documents }) {
    const data = await documents.find(doc_id);
    return data === null ? { ok: false, code: 'DOCUMENT_NOT_FOUND', facts: {} } : { ok: true, data };
  },
});
