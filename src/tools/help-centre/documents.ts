/** Reads of the help centre, which is the same for every customer. `npm run docs:import` writes it. */
import * as z from 'zod';
import type { Port } from '../../gate/index.ts';

export const DOCUMENT_STATUS = z.enum(['current', 'superseded']);
type DocumentStatus = z.output<typeof DOCUMENT_STATUS>;

export type HelpDocument = { id: string; title: string; version: string; status: DocumentStatus; lang: string };

export interface Documents {
  find(id: string): Promise<HelpDocument | null>;
  count(status: DocumentStatus): Promise<number>;
}

const documentRow: z.ZodType<HelpDocument> = z.object({
  id: z.string(),
  title: z.string(),
  version: z.string(),
  status: DOCUMENT_STATUS,
  lang: z.string(),
});
const countRow = z.object({ documents: z.int() });

const FIND = 'SELECT doc_id AS id, title, version, status, lang FROM documents WHERE doc_id = ?1';
const COUNT = 'SELECT count(*) AS documents FROM documents WHERE status = ?1';

export const documents: Port<Documents> = {
  open: ({ ledger }) => ({
    async find(id) {
      const [row] = await ledger.all(FIND, id);
      return row === undefined ? null : documentRow.parse(row);
    },
    async count(status) {
      const [row] = await ledger.all(COUNT, status);
      return countRow.parse(row).documents;
    },
  }),
};
