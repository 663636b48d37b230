/** What goes wrong in a story: which faults may strike, and what happens to objects and clocks when. */
import type { Random } from './random.ts';
import type { Client, Disturbance, Faults, Scenario } from './scenario.ts';

const CALM: Faults = {
  failBefore: 0,
  lostAnswer: 0,
  silent: 0,
  slow: 0,
  lateWrite: 0,
  duplicateWrite: 0,
  crashAtSend: 0,
  crashAtAnswer: 0,
  crashAtWrite: 0,
  duplicateCall: 0,
  lostReply: 0,
  alarmLate: 0,
  alarmDoubled: 0,
  alarmDropped: 0,
  queueFails: 0,
  queueDoubles: 0,
  queueSlow: 0,
  mailFails: 0,
  turnsAway: 0,
  refuses: 0,
};

export function troubleOf(
  calm: boolean,
  sessions: number,
  clients: Client[],
  random: Random,
): Pick<Scenario, 'faults' | 'disturbances'> {
  if (calm) return { faults: CALM, disturbances: [] };
  const faults = faultsOf(random);
  const all = Array.from({ length: random.int(0, 4) }, () => disturbance(sessions, clients, random));
  // The cron finds a session with a dropped alarm within an hour of its token's end, not after a clock that jumps past that.
  const disturbances = all.filter((each) => faults.alarmDropped === 0 || each.kind !== 'jump' || each.ms < 1_000_000);
  return { faults, disturbances };
}

function disturbance(sessions: number, clients: Client[], random: Random): Disturbance {
  const atMs = momentOf(clients, random);
  const kind = random.unit();
  if (kind < 0.3)
    return {
      kind: 'cut',
      atMs,
      session: random.int(0, sessions - 1),
      ms: random.skewed(2_000, 600_000),
      landing: random.chance(0.4),
    };
  if (kind < 0.6) return { kind: 'crash', atMs, session: random.int(0, sessions - 1) };
  if (kind < 0.75) return { kind: 'evict', atMs, session: random.int(0, sessions - 1) };
  return { kind: 'jump', atMs, ms: random.pick([-2_000, -300, 5_000, 90_000, 900_000, 2_400_000]) };
}

/** Each kind is there or not, so that a seed has a character: all kinds at once would hide each other. */
function faultsOf(random: Random): Faults {
  const rate = (most: number): number => (random.chance(0.4) ? most * random.unit() : 0);
  return {
    failBefore: rate(0.3),
    lostAnswer: rate(0.4),
    silent: rate(0.2),
    slow: rate(0.5),
    lateWrite: rate(0.4),
    duplicateWrite: rate(0.3),
    crashAtSend: rate(0.15),
    crashAtAnswer: rate(0.2),
    crashAtWrite: rate(0.1),
    duplicateCall: rate(0.3),
    lostReply: rate(0.2),
    alarmLate: rate(0.5),
    alarmDoubled: rate(0.4),
    alarmDropped: rate(0.4),
    queueFails: rate(0.4),
    queueDoubles: rate(0.4),
    queueSlow: rate(0.4),
    mailFails: rate(0.5),
    turnsAway: rate(0.3),
    refuses: rate(0.3),
  };
}

/** Around a step of some client, since what happens while nobody does anything breaks little; or at any time. */
export function momentOf(clients: Client[], random: Random): number {
  if (random.chance(0.2)) return random.skewed(0, 200_000);
  const { startMs, steps } = random.pick(clients);
  const before = steps.slice(0, random.int(1, steps.length));
  return Math.max(
    0,
    before.reduce((sum, { pauseMs }) => sum + pauseMs, startMs) +
      random.pick([-150, 0, 50, 3_000, 15_000]) +
      random.skewed(0, 300),
  );
}
