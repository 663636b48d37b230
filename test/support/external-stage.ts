/** A session's code over SQLite, with one tool over one API and a clock that stands still until it is moved. */
import { expect } from 'vitest';
import { backendsWith } from '../../src/gate/backends/http.ts';
import type { Policy } from '../../src/gate/ports.ts';
import { ShopApi, toolOf, VARIABLES, type RecipeClass } from './external-tool.ts';
import { nodeSession } from './node-session.ts';

type Options = { refusals?: 'kept' | 'not_kept'; policy?: Partial<Policy> };

export async function stage(kind: RecipeClass, { refusals = 'not_kept', policy = {} }: Options = {}) {
  let time = 1_800_000_000_000;
  const now = (): number => time;
  const api = new ShopApi(now);
  const variables: Record<string, unknown> = { ...VARIABLES };
  const logged: Record<string, unknown>[] = [];
  const backends = backendsWith({
    variables,
    loopback: false,
    fetch: api.fetch,
    log: (entry) => void logged.push(entry),
  });
  const made = await nodeSession([toolOf(kind, refusals)], policy, { backends, now });
  const { session, uid, shared, own } = made;
  let calls = 0;
  return {
    ...{ api, session, uid, shared, own, variables, logged },
    later: (ms: number) => void (time += ms),
    async call(amount_cents = 2_500, card = 'card-1') {
      const answer = await session.call({
        ...{ uid, tool: 'move_money', arguments: { card, amount_cents } },
        ...{ call_id: `call-${(calls += 1)}`, request_id: 'req' },
      });
      if ('refused' in answer) throw new Error(answer.refused);
      return answer.outcome;
    },
    alarm: () => session.alarm(),
    decide: made.decide,
    attempts: () =>
      shared.prepare('SELECT applied, code, attempt, sends, external_id FROM attempts ORDER BY at, attempt').all(),
    open: () => shared.prepare('SELECT count(*) AS n FROM open_sends').get()?.['n'],
    state: () =>
      own
        .prepare('SELECT state FROM record ORDER BY step')
        .all()
        .map(({ state }) => state),
    total: () => shared.prepare('SELECT sum(applied_cents) AS n FROM subject_totals').get()?.['n'],
  };
}
export type Stage = Awaited<ReturnType<typeof stage>>;

/** Requests that may have had an effect. */
export const sends = ({ api }: Stage) => api.trips.filter(({ method }) => method === 'POST');

/** What must hold of a settled effect that was made once. */
export function expectOnce(at: Stage): void {
  expect(at.api.effects).toHaveLength(1);
  expect(at.attempts().filter(({ applied }) => applied === 1)).toHaveLength(1);
  expect([at.open(), at.total(), at.state()]).toEqual([0, 2_500, ['executed']]);
}
