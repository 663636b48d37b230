/**
 * Every request the object takes, every await of it, every fault there, everything that may come after
 * (docs/specification.md#life-of-an-effect): in the end
 * the ledger moved once or not at all, the audit tells it once, and nothing is stuck or called failed that was applied.
 *
 * The awaits are found by standing at the object's doors and are listed in test/golden/awaits.json; the matrix runs over the
 * list, and whatever passes a door and is not in it fails. `npm test` runs one case of each await, `npm run test:whole` all.
 */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { allTools } from '../support/tools.ts';
import inventory from '../golden/awaits.json';
import { leaveDoors, METHODS, passages, standAtDoors, watch } from '../support/awaits.ts';
import { callTypes } from '../support/call-types.ts';
import { casesOf, runCase, worstCasesOf, type Case } from '../support/crash-case.ts';
import { reachDouble } from '../support/elsewhere.ts';
import { moveOn, standStill } from '../support/effects.ts';
import { auditIn } from '../support/inside.ts';
import { isWhole } from '../support/whole.ts';

const listed: Record<string, string[]> = inventory;
const types = Object.keys(callTypes);
/** What a batch holds: reports leave out what there is nothing of. */
const partsOf = (label: string): string[] => label.replace('D1: ', '').split(', ');
const known = new Set(Object.values(listed).flat().flatMap(partsOf));

/** What came of it, by type: the found awaits, and the cases that went wrong. */
const found: Record<string, string[]> = {};
const wrong: Record<string, string[]> = {};

/** Runs all of them, `width` at a time. */
async function inParallel<Item>(items: Item[], width: number, run: (item: Item) => Promise<void>): Promise<void> {
  const left = items.values();
  await Promise.all(
    Array.from({ length: width }, async () => {
      for (const item of left) await run(item);
    }),
  );
}

/** Twice as long as the longest limits take, one after another: whatever takes longer than this does not end. */
const stuck = (): Promise<never> =>
  new Promise((_, fail) => setTimeout(() => fail(new Error('it does not come to an end')), 25_000));

async function judge(each: Case): Promise<void> {
  const { type, label, place, fault, after } = each;
  try {
    await Promise.race([runCase(each), stuck()]);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    (wrong[type] ??= []).push(`await ${place} (${label}) ${fault}, then ${after}: ${why}`);
  }
}

beforeAll(async () => {
  standStill();
  // A line for each of some ten thousand audit rows would take longer than the cases.
  vi.spyOn(console, 'log').mockReturnValue();
  reachDouble();
  standAtDoors();
  await inParallel(types, 4, async (type) => {
    const begun = await callTypes[type]?.make();
    const seen = watch(begun?.agent.object ?? '');
    await begun?.begin();
    found[type] = seen.awaits;
  });
  const cases = types.flatMap((type) => (isWhole ? casesOf : worstCasesOf)(type, listed[type] ?? []));
  const [waiting, quick] = [true, false].map((isSlow) =>
    cases.filter(({ fault }) => fault.startsWith('hangs') === isSlow),
  );
  await Promise.all([inParallel(waiting ?? [], 30, judge), inParallel(quick ?? [], 8, judge)]);
}, 900_000);
afterAll(() => {
  leaveDoors();
  moveOn();
});

describe('the list of awaits', () => {
  it.each(types)('holds what is awaited by %s', (type) => {
    const put = `put into test/golden/awaits.json: ${JSON.stringify({ [type]: found[type] })}`;
    expect(found[type], put).toEqual(listed[type]);
  });

  it('holds every method of the object, every read tool, and all that passed while faults struck', () => {
    expect(
      METHODS.filter((name) => !known.has(`${name} arrives`)),
      'add a call type that begins it',
    ).toEqual([]);
    const reads = allTools.filter(({ effect }) => effect === 'none').map(({ name }) => `read: ${name}`);
    expect(types, 'add a call type for each read tool').toEqual(expect.arrayContaining(reads));
    expect(
      [...passages].flatMap(partsOf).filter((part) => !known.has(part)),
      'add a call type that comes by here',
    ).toEqual([]);
  });
});

describe('a fault at any await', () => {
  it.each(types)('leaves books that agree: %s', (type) => {
    expect(wrong[type] ?? []).toEqual([]);
  });
});

describe('propose', () => {
  const places = listed['sent by the Worker']?.filter((label) => label.startsWith('D1')) ?? [];
  const deaths = places.flatMap((label) => (['dies before', 'dies after'] as const).map((fault) => ({ label, fault })));

  /** Sends a call whose object dies that often. */
  async function proposed(times: number, { label, fault }: (typeof deaths)[number]) {
    const begun = await callTypes['sent by the Worker']?.make();
    if (begun === undefined) throw new Error('there is no such call type');
    watch(begun.agent.object).plan = { strikes: (passing) => passing === label, fault, times };
    const { code, row } = await begun.begin();
    return { told: `${code} ${row}`, rows: await auditIn(begun.agent.object) };
  }

  it.each(deaths)(
    'sends the call again under its id when the object $fault $label, and gets its one outcome',
    async (death) => {
      const { told, rows } = await proposed(1, death);
      expect(told).toBe('OK same 1');
      expect(rows).toHaveLength(1);
    },
  );

  it.each(deaths)(
    'answers UPSTREAM_UNAVAILABLE without a step or a row when the object $fault $label twice',
    async (death) => {
      const { told, rows } = await proposed(2, death);
      expect(told).toBe('UPSTREAM_UNAVAILABLE same null');
      expect(rows).toEqual([]);
    },
  );
});
