import * as z from 'zod';
import { defineTool } from '../../gate/index.ts';
import { DOCUMENT_STATUS, documents } from './documents.ts';

export const countDocuments = defineTool({
  name: 'count_documents',
  description: 'Counts the help-centre documents that are current, or those that are superseded.',
  effect: 'none',
  risky: false,
  reads: { documents },
  input: z.strictObject({ status: DOCUMENT_STATUS.describe('Which documents to count.') }),
  example: { status: 'current' },
  output: z.strictObject({
    status: DOCUMENT_STATUS.describe('Which documents were counted.'),
    count: z.int().min(0).describe('How many there are.'),
  }),
  codes: {},
  run: async ({ status }, { documents }) => ({ ok: true, data: { status, count: await documents.count(status) } }),
});
