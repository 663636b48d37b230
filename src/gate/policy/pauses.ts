/** What an operator has paused, as a session was told. The ledger asks again in the transaction that applies an effect. */
import type { Scope } from '../ports.ts';

export const isPaused = ({ pauses, caller_id }: Pick<Scope, 'pauses' | 'caller_id'>, tool: string): boolean =>
  pauses.some((scope) => scope === 'all' || scope === `caller:${caller_id}` || scope === `tool:${tool}`);
