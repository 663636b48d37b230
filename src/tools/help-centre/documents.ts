/** Reads of the help centre. The import script writes it. */
import * as z from 'zod';
import { DOCUMENT_STATUSES, type Documents, type HelpDocument, type LedgerSql } from '../../gate/ports.ts';
import { integer } from '../../gate/ledger/columns.ts';

const documentRow: z.ZodType<HelpDocument> = z.object({
  id: z.string(),
  title: z.string(),
  version: z.string(),
  status: z.enum(DOCUMENT_STATUSES),
  lang: z.string(),
});
const countRow = z.object({ documents: integer });

const FIND = 'SELECT doc_id AS id, title, version, status, lang FROM documents WHERE doc_id = ?1';
const COUNT = 'SELECT count(*) AS documents FROM documents WHERE status = ?1';

export function documentsFrom(sql: LedgerSql): Documents {
  return {
    async find(id) {
      const [row] = await sql.all(FIND, id);
      return row === undefined ? null : documentRow.parse(row);
    },
    async count(status) {
      const [row] = await sql.all(COUNT, status);
      return countRow.parse(row).documents;
    },
  };
}
