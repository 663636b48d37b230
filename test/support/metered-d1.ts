/** A D1 binding that adds up the rows it writes: rows written are the bill, so tests assert them. */
export type MeteredD1 = { db: D1Database; rowsWritten(): number };

export function meteredD1(real: D1Database): MeteredD1 {
  let written = 0;
  const counted = <Row>(result: D1Result<Row>): D1Result<Row> => {
    written += result.meta.rows_written;
    return result;
  };
  const batch = async <Row>(statements: D1PreparedStatement[]): Promise<D1Result<Row>[]> =>
    (await real.batch<Row>(statements)).map(counted);
  const db = new Proxy(real, {
    get(target, name) {
      if (name === 'batch') return batch;
      const member: unknown = Reflect.get(target, name);
      return typeof member === 'function' ? (member.bind(target) as unknown) : member;
    },
  });
  return { db, rowsWritten: () => written };
}
