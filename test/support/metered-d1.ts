/** A D1 binding that adds up the rows that its batches write and its single statements read: both are billed. */
export type MeteredD1 = { db: D1Database; rowsWritten(): number; rowsRead(): number };

export function meteredD1(real: D1Database): MeteredD1 {
  let [written, read] = [0, 0];
  const counted = <Row>(result: D1Result<Row>): D1Result<Row> => {
    written += result.meta.rows_written;
    return result;
  };
  const batch = async <Row>(statements: D1PreparedStatement[]): Promise<D1Result<Row>[]> =>
    (await real.batch<Row>(statements)).map(counted);
  const prepare = (sql: string): D1PreparedStatement => {
    const statement = real.prepare(sql);
    const bind = statement.bind.bind(statement);
    statement.bind = (...values) => {
      const bound = bind(...values);
      const all = bound.all.bind(bound);
      bound.all = async <Row>() => {
        const result = await all<Row>();
        read += result.meta.rows_read;
        return result;
      };
      return bound;
    };
    return statement;
  };
  const db = new Proxy(real, {
    get(target, name) {
      if (name === 'batch') return batch;
      if (name === 'prepare') return prepare;
      const member: unknown = Reflect.get(target, name);
      return typeof member === 'function' ? (member.bind(target) as unknown) : member;
    },
  });
  return { db, rowsWritten: () => written, rowsRead: () => read };
}
