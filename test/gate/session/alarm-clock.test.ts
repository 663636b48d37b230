import { describe, expect, it } from 'vitest';
import { Alarms } from '../../../src/gate/session/alarm-clock.ts';

/** The platform's alarm, and a clock: what was set, in order. */
function stage() {
  const set: number[] = [];
  const clock = { now: 0 };
  const platform: { armedFor: number | null } = { armedFor: null };
  const alarm = { set: (at: number) => void set.push(at), get: async () => platform.armedFor };
  return { set, clock, platform, alarms: new Alarms(alarm, () => clock.now) };
}

describe('Alarms', () => {
  it('sets nothing where something is due earlier, or a little overdue', () => {
    const { set, clock, alarms } = stage();
    alarms.arm(4_000);
    alarms.arm(5_000);
    clock.now = 14_000;
    alarms.arm(18_000);
    expect(set).toEqual([4_000]);
  });

  it('moves forward what is due later', () => {
    const { set, alarms } = stage();
    alarms.arm(4_000);
    alarms.arm(3_000);
    expect(set).toEqual([4_000, 3_000]);
  });

  it('sets anew what is long overdue, as it was: the platform has given it up while the object lived', () => {
    const { set, clock, alarms } = stage();
    alarms.arm(4_000);
    clock.now = 14_001;
    alarms.arm(18_001);
    expect(set).toEqual([4_000, 4_000]);
  });

  it('sets it where the platform has given it up, whatever memory says', async () => {
    const { set, alarms } = stage();
    alarms.arm(4_000);
    await alarms.revive(4_000);
    expect(set).toEqual([4_000, 4_000]);
  });

  it('leaves what the platform still has, also after a restart', async () => {
    const { set, platform, alarms } = stage();
    platform.armedFor = 9_000;
    await alarms.revive(4_000);
    expect(set).toEqual([]);
  });
});
