/** How rows of the log come to D1, whole and once, whatever D1 answers meanwhile (docs/specification.md#audit). */
import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { chainHash, firstPrevious, type AuditRow } from '../../src/gate/ledger/audit-row.ts';
import { listAudit } from '../../src/gate/ledger/audit.ts';
import { ledgerSql } from '../../src/gate/ledger/d1.ts';
import { AHEAD, alarmOf, auditIn, runAlarm, withoutAlarms } from '../support/inside.ts';
import { newAgent, newOrder, refund, type Agent } from '../support/session.ts';

beforeEach(() => void withoutAlarms());
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

const everything = { tool: null, code: null, from: null, to: null };

/** The session's rows as D1 has them. */
async function storedOf({ caller_id, session_id }: Agent): Promise<AuditRow[]> {
  return (await listAudit(ledgerSql(env.AUDIT), { ...everything, caller_id, session_id }, null, 1_000)).rows;
}

/** A session with a call for each text. */
async function agentThatSaid(...texts: string[]): Promise<Agent> {
  const agent = await newAgent({ max_steps: 1_000 });
  for (const text of texts) await agent.call('nothing', text);
  return agent;
}

/** The rows of each report that reaches for D1 from now on. */
function watchReports(): AuditRow[][] {
  const reports: AuditRow[][] = [];
  const prepare = env.AUDIT.prepare.bind(env.AUDIT);
  vi.spyOn(env.AUDIT, 'prepare').mockImplementation((sql) => {
    const statement = prepare(sql);
    if (!sql.includes('INSERT INTO audit')) return statement;
    const bind = statement.bind.bind(statement);
    statement.bind = (...values) => {
      reports.push(JSON.parse(String(values[0])) as AuditRow[]);
      return bind(...values);
    };
    return statement;
  });
  return reports;
}
const placesIn = (reports: AuditRow[][]): number[][] => reports.map((rows) => rows.map(({ seq }) => seq));

/** D1 meets each new row of `uid` with `action` until the returned function is called. */
async function meetRows(uid: string, when: string, action: string): Promise<() => Promise<unknown>> {
  const name = `meet_${uid}`;
  await env.AUDIT.prepare(
    `CREATE TRIGGER ${name} BEFORE INSERT ON audit WHEN NEW.uid = '${uid}' AND ${when} BEGIN SELECT ${action}; END`,
  ).run();
  return () => env.AUDIT.prepare(`DROP TRIGGER ${name}`).run();
}

describe('the rows of a log', () => {
  it('stand in D1 after the alarm, as the object keeps them, and are not sent again', async () => {
    const agent = await agentThatSaid('{}', '\u0000', '"\ud800"');
    await agent.call('refund_order', refund(await newOrder()));
    const reports = watchReports();
    await runAlarm(agent.object);
    expect(await storedOf(agent)).toEqual(await auditIn(agent.object));
    await agent.call('nothing', {});
    await runAlarm(agent.object);
    await agent.stub().wake();
    expect(placesIn(reports)).toEqual([[1, 2, 3, 4], [5]]);
  });

  it('travel in batches of at most 100, and go on from the last one that was confirmed', async () => {
    const agent = await agentThatSaid(...Array.from({ length: 250 }, () => '{}'));
    const reports = watchReports();
    const batch = env.AUDIT.batch.bind(env.AUDIT);
    let sent = 0;
    vi.spyOn(env.AUDIT, 'batch').mockImplementation(
      async <Row>(statements: D1PreparedStatement[]): Promise<D1Result<Row>[]> => {
        sent += 1;
        if (sent === 3) throw new Error('D1 DB is overloaded.');
        return batch<Row>(statements);
      },
    );
    await runAlarm(agent.object);
    expect(await alarmOf(agent.object)).toBeLessThanOrEqual(AHEAD + 60_000);
    await runAlarm(agent.object);
    expect(reports.map((rows) => [rows[0]?.seq, rows.at(-1)?.seq])).toEqual([
      [1, 100],
      [101, 200],
      [201, 250],
      [201, 250],
    ]);
    expect(await storedOf(agent)).toEqual(await auditIn(agent.object));
  });

  it('travel in batches of at most 256 KiB', async () => {
    const agent = await agentThatSaid(...Array.from({ length: 120 }, () => 'é'.repeat(2_100)));
    const reports = watchReports();
    await runAlarm(agent.object);
    for (const rows of reports)
      expect(new TextEncoder().encode(JSON.stringify(rows)).length).toBeLessThanOrEqual(256 * 1024);
    expect(reports.length).toBeGreaterThan(1);
    expect(await storedOf(agent)).toEqual(await auditIn(agent.object));
  });

  it('arrive once where D1 took them and its answer was lost', async () => {
    const agent = await agentThatSaid('{}', '{}');
    const batch = env.AUDIT.batch.bind(env.AUDIT);
    vi.spyOn(env.AUDIT, 'batch').mockImplementationOnce(async (statements) => {
      await batch(statements);
      throw new Error('Network connection lost.');
    });
    await runAlarm(agent.object);
    await runAlarm(agent.object);
    expect(await storedOf(agent)).toEqual(await auditIn(agent.object));
  });

  it('stay unconfirmed while D1 holds another row in their place', async () => {
    const agent = await agentThatSaid('{}');
    const [row] = await auditIn(agent.object);
    await env.AUDIT.prepare(
      `INSERT INTO audit (uid, seq, kind, at, caller_id, session_id, ok, code, replayed, actor, duration_ms, hash)
       VALUES (?, 1, 'call', 0, ?, ?, 1, 'OK', 0, 'agent', 0, 'forged')`,
    )
      .bind(agent.uid, agent.caller_id, agent.session_id)
      .run();
    const reports = watchReports();
    for (const _ of [1, 2]) await runAlarm(agent.object);
    expect(placesIn(reports)).toEqual([[1], [1]]);
    expect(await alarmOf(agent.object)).toBeLessThanOrEqual(AHEAD + 60_000);
    expect((await auditIn(agent.object))[0]).toEqual(row);
  });

  it('arrive with their arguments where D1 first lost them without a word', async () => {
    const agent = await agentThatSaid('{"a":1}');
    const stop = await meetRows(agent.uid, 'true', 'RAISE(IGNORE)');
    await runAlarm(agent.object);
    expect(await storedOf(agent)).toEqual([]);
    await stop();
    await runAlarm(agent.object);
    expect(await storedOf(agent)).toEqual(await auditIn(agent.object));
  });

  it('arrive with their arguments after an unknown error of D1', async () => {
    const agent = await agentThatSaid('{"a":1}');
    const batch = vi.spyOn(env.AUDIT, 'batch');
    for (const _ of [1, 2]) batch.mockRejectedValueOnce(new Error('D1_ERROR: Failed to parse body as JSON'));
    for (const _ of [1, 2, 3]) await runAlarm(agent.object);
    expect(await storedOf(agent)).toEqual(await auditIn(agent.object));
  });
});

describe('a single row that D1 refuses', () => {
  it('travels without its arguments, marked, and neither it nor its neighbours break the chain', async () => {
    const agent = await agentThatSaid('{"a":1}', '{"a":"poison"}', '{"a":3}');
    const stop = await meetRows(agent.uid, "NEW.arguments LIKE '%poison%'", "RAISE(ABORT, 'refused')");
    await runAlarm(agent.object);
    await stop();
    const [first, second, third] = await auditIn(agent.object);
    expect(await storedOf(agent)).toEqual([first, { ...second, arguments: null, salt: null, withheld: true }, third]);
    expect(second?.arguments).toContain('poison');
  });
});

describe('arguments that are erased', () => {
  it('leave rows that still prove one another', async () => {
    const agent = await agentThatSaid('{"a":1}', '{"a":2}');
    await runAlarm(agent.object);
    await env.AUDIT.prepare('UPDATE audit SET arguments = NULL, salt = NULL WHERE uid = ?').bind(agent.uid).run();
    const stored = await storedOf(agent);
    let previous = firstPrevious(agent.caller_id, agent.session_id, agent.uid);
    for (const row of stored) {
      expect(row).toMatchObject({ arguments: null, salt: null, hash: chainHash(previous, row) });
      previous = row.hash;
    }
    expect(await agent.stub().heads()).toEqual([{ uid: agent.uid, seq: 2, hash: previous }]);
  });
});
