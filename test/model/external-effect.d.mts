export type Search = { name: string; cfg?: Record<string, unknown>; V?: Record<string, unknown>; expect?: string };
export type Result = {
  states: number;
  complete: boolean;
  reached: string[];
  violations: { id: string; why: string; trace: string[] }[];
};
/** One search. `cfg` bounds it and says what may happen; `V` sets parts of the design to another reading. */
export function explore(search: Partial<Search>): Result;
/** What must be clean. */
export const CONFIGS: readonly Search[];
/** What must break an invariant whose id `expect` names. */
export const PLANTED: readonly Search[];
