/** Effects in other systems that a person approved (docs/specification.md#effects-in-other-systems). */
import { describe, expect, it } from 'vitest';
import { CLASSES, losesAnswer, neverArrives } from '../../support/external-tool.ts';
import { expectOnce, sends, stage, type Stage } from '../../support/external-stage.ts';

describe('an approved action', () => {
  const ASKED = { policy: { confirm_above_cents: 1_000 } };
  const only = (at: Stage) => at.own.prepare('SELECT state, attempt, sends FROM record ORDER BY step').all();

  it.each(CLASSES)('is sent once, when the person approves: %s', async (kind) => {
    const at = await stage(kind, ASKED);
    expect(await at.call()).toMatchObject({ code: 'CONFIRMATION_REQUIRED' });
    expect(sends(at)).toEqual([]);
    expect(await at.decide('approve')).toEqual({ decided: 'approved' });
    expectOnce(at);
    expect(await at.call()).toMatchObject({ ok: true, replayed: true });
    expect(sends(at)).toHaveLength(1);
  });

  it.each(CLASSES)('is settled and never judged again once it may have left: %s', async (kind) => {
    const at = await stage(kind, ASKED);
    await at.call();
    at.api.faults.POST.push(losesAnswer);
    at.api.faults.GET.push(neverArrives);
    await at.decide('approve');
    // The effect itself leaves no room: a second judgement would refuse it.
    at.api.limitCents = 2_500;
    for (let minutes = 0; minutes < 90; minutes += 5) {
      await at.alarm();
      await at.call();
      at.later(5 * 60_000);
    }
    expect(at.api.effects).toHaveLength(1);
    if (kind === 'neither') expect(only(at)).toEqual([{ state: 'approved', attempt: 1, sends: 1 }]);
    else expectOnce(at);
  });

  it('waits for a busy subject within its hour, and is carried out when the subject is free', async () => {
    const at = await stage('key and look-up', ASKED);
    at.api.faults.POST.push(losesAnswer);
    at.api.faults.GET.push(neverArrives);
    await at.call(900);
    await at.call();
    expect(await at.decide('approve')).toEqual({ decided: 'approved' });
    expect(only(at)).toEqual([
      { state: 'claimed', attempt: 1, sends: 1 },
      { state: 'approved', attempt: 1, sends: 0 },
    ]);
    expect(at.attempts()).toEqual([]);
    at.later(10_000);
    await at.alarm();
    at.later(10_000);
    await at.alarm();
    expect(only(at).map(({ state }) => state)).toEqual(['executed', 'executed']);
    expect(at.api.effects.map(({ cents }) => cents)).toEqual([900, 2_500]);
  });

  it('fails where the subject stays busy for its hour, and never leaves afterwards', async () => {
    const at = await stage('neither', ASKED);
    at.api.faults.POST.push(losesAnswer);
    await at.call(900);
    await at.call();
    await at.decide('approve');
    at.later(60 * 60_000 + 1);
    await at.alarm();
    expect(only(at).map(({ state }) => state)).toEqual(['claimed', 'failed']);
    expect(sends(at)).toHaveLength(1);
  });

  it('sends what the approval saw, not what the call saw', async () => {
    const at = await stage('key and look-up', ASKED);
    await at.call();
    at.api.limitCents = 2_000;
    expect(await at.decide('approve')).toEqual({ decided: 'approved' });
    expect(only(at)).toEqual([{ state: 'failed', attempt: 1, sends: 0 }]);
    expect(at.attempts()).toEqual([{ applied: 0, code: 'LIMIT_REACHED', attempt: 1, sends: 0, external_id: null }]);
  });
});
