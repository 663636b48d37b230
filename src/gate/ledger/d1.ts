/** D1 as the small port the store's statements run on, and the one list of what its failures mean. */
import { UpstreamError, type LedgerSql, type SqlRow, type Statement } from '../ports.ts';

/**
 * Failures of D1's documented error list after which the statement's fate is unknown and the same attempt may be sent
 * again. D1 repeats reads by itself and writes never.
 */
const TRANSIENT = [
  'Network connection lost',
  'storage caused object to be reset',
  'reset because its code was updated',
  'Cannot resolve D1 DB due to transient issue on remote node',
  "Can't read from request stream because client disconnected",
  'internal error; reference =',
];

/** Failures that a quick repetition would make worse (or cannot mend): the caller gives up and says so. */
const LASTING = [
  'overloaded',
  'exceeded its CPU time limit',
  'isolate exceeded its memory limit',
  'storage operation exceeded timeout',
  'Exceeded maximum DB size',
  "exceeded D1's maximum account storage limit",
];

/**
 * Speaks D1. An outage becomes an `UpstreamError`; a broken constraint and a statement that is wrong stay what they are,
 * because they are bugs of ours and no answer to a call.
 */
export function ledgerSql(db: D1Database): LedgerSql {
  const prepared = ({ sql, params }: Statement): D1PreparedStatement => db.prepare(sql).bind(...params);
  return {
    async all(sql, ...params) {
      try {
        return (await prepared({ sql, params }).all<SqlRow>()).results;
      } catch (error) {
        throw outageOr(error);
      }
    },
    async batch(statements) {
      try {
        return (await db.batch<SqlRow>(statements.map(prepared))).map(({ results }) => results);
      } catch (error) {
        throw outageOr(error);
      }
    },
  };
}

/** What D1 refuses a row itself for. All else may pass, and must cost no row its arguments. */
const ROW_REFUSALS = /SQLITE_(?:CONSTRAINT|TOOBIG|MISMATCH)|malformed JSON/;

/** Whether the same row would be refused however often it is sent. */
export const isRowRefusal = (error: unknown): boolean => error instanceof Error && ROW_REFUSALS.test(error.message);

function outageOr(error: unknown): Error {
  if (!(error instanceof Error)) return new Error('D1 failed with something that is no error', { cause: error });
  const reasons = `${error.message} ${error.cause instanceof Error ? error.cause.message : ''}`;
  const names = (reason: string): boolean => reasons.includes(reason);
  if (TRANSIENT.some(names)) return new UpstreamError(error.message, true);
  return LASTING.some(names) ? new UpstreamError(error.message, false) : error;
}
