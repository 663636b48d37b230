/**
 * The demo's own entry: the whole product, but that the ledger's answer to one refund of 5.00 is lost after it was applied.
 * The product itself has no switch for faults.
 */
import handler, { Session as ProductSession } from '../src/index.ts';

const LOST_AMOUNT_CENTS = 500;

export class Session extends ProductSession {
  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, { ...env, DB: losingOneAnswer(env.DB) });
  }
}

export default handler;

/** A database whose batch runs and commits, but whose answer does not come back: once, for a refund of that amount. */
function losingOneAnswer(db: D1Database): D1Database {
  const refunds = new WeakSet<D1PreparedStatement>();
  let hasLost = false;
  return new Proxy(db, {
    get(target, name) {
      if (name === 'prepare')
        return (sql: string) => noting(target.prepare(sql), sql.includes('INTO attempts'), refunds);
      if (name === 'batch')
        return async (statements: D1PreparedStatement[]) => {
          const results = await target.batch(statements);
          if (hasLost || !statements.some((statement) => refunds.has(statement))) return results;
          hasLost = true;
          throw new Error('the answer of a committed batch was lost');
        };
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}

function noting(
  statement: D1PreparedStatement,
  isAttempt: boolean,
  refunds: WeakSet<D1PreparedStatement>,
): D1PreparedStatement {
  return new Proxy(statement, {
    get(target, name) {
      if (name !== 'bind') return Reflect.get(target, name) as unknown;
      return (...values: unknown[]) => {
        const bound = target.bind(...values);
        if (isAttempt && values.includes(LOST_AMOUNT_CENTS)) refunds.add(bound);
        return bound;
      };
    },
  });
}
