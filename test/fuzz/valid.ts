/** A good request of every route, about what there is. Each episode draws from these and bends one thing. */
import type { Random } from '../simulation/random.ts';
import type { Make, Pool } from './pool.ts';
import type { Asked } from './request.ts';
import { call, endSession, mcp, openSession, poll, providerCalls, tools } from './valid-agent.ts';
import { changeCaller, decide, list, newCaller, open, operate, page, rotate } from './valid-people.ts';

/** How often each is drawn, of all. */
const WEIGHTED: [number, Make][] = [
  ...([
    [28, call],
    [16, providerCalls],
    [9, mcp],
    [9, openSession],
    [1, endSession],
    [3, tools],
    [6, poll],
  ] as [number, Make][]),
  ...([
    [5, page],
    [9, decide],
    [1, newCaller],
    [2, changeCaller],
    [1, rotate],
    [2, operate],
    [5, list],
    [3, open],
  ] as [number, Make][]),
];
const TOTAL = WEIGHTED.reduce((sum, [weight]) => sum + weight, 0);

export function validRequest(pool: Pool, random: Random): Asked {
  let at = random.unit() * TOTAL;
  const [, make] = WEIGHTED.find(([weight]) => (at -= weight) < 0) ?? [0, call];
  return make(pool, random);
}
