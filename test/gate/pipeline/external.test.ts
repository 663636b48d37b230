/**
 * Effects in other systems (docs/specification.md#effects-in-other-systems), cell by cell: the session's code over SQLite and
 * an API that keeps its own books. What counts is that those books show at most one effect.
 */
import { describe, expect, it } from 'vitest';
import type { Policy } from '../../../src/gate/ports.ts';
import {
  answersAfter,
  answersInstead,
  CLASSES,
  LAG_MS,
  losesAnswer,
  neverArrives,
  QUIET_MS,
  VARIABLES,
  type ApiFault,
} from '../../support/external-tool.ts';
import { expectOnce, sends, stage } from '../../support/external-stage.ts';

describe.each(CLASSES)('a backend with %s', (kind) => {
  it('executes a call once, and tells its repetition the same', async () => {
    const at = await stage(kind);
    expect(await at.call()).toMatchObject({ ok: true, data: { id: 'eff_1', cents: 2_500 } });
    expect(await at.call()).toMatchObject({ ok: true, replayed: true, data: { id: 'eff_1' } });
    expectOnce(at);
    expect(sends(at)).toHaveLength(1);
    expect(at.attempts()).toEqual([{ applied: 1, code: null, attempt: 1, sends: 1, external_id: 'eff_1' }]);
  });

  it('voids a first send that the backend refuses', async () => {
    const at = await stage(kind);
    at.api.faults.POST.push(answersInstead(422));
    expect(await at.call()).toMatchObject({ ok: false, code: 'LIMIT_REACHED' });
    expect([at.api.effects.length, at.open(), at.state()]).toEqual([0, 0, ['failed']]);
    expect(await at.call()).toMatchObject({ ok: true });
    expect(at.attempts().map(({ attempt, applied }) => [attempt, applied])).toEqual([
      [1, 0],
      [2, 1],
    ]);
  });

  it('refuses more than the ceiling of the subject without asking the backend', async () => {
    const at = await stage(kind);
    await at.call(9_000);
    expect(await at.call(1_001)).toMatchObject({ ok: false, code: 'LIMIT_REACHED' });
    expect(await at.call(1_000)).toMatchObject({ ok: true });
    expect(sends(at)).toHaveLength(2);
  });

  it('answers UPSTREAM_UNAVAILABLE while a variable is missing, and sends nothing', async () => {
    const at = await stage(kind);
    delete at.variables['SHOP_SECRET'];
    expect(await at.call()).toMatchObject({
      code: 'UPSTREAM_UNAVAILABLE',
      message: 'The system behind this tool cannot be reached now. Nothing was changed.',
    });
    expect(at.api.trips).toEqual([]);
    expect(at.logged).toEqual([{ event: 'backend_not_configured', backend: 'shop', variables: ['SHOP_SECRET'] }]);
  });

  const faults: [string, ApiFault][] = [
    ['the answer is lost', losesAnswer],
    ['a 500 hides it', answersAfter(500)],
    ['a 401 hides it', answersAfter(401)],
    ['a 409 hides it', answersAfter(409)],
    ['a redirect hides it', answersAfter(302)],
    ['the answer is no JSON', answersAfter(201, '<html>')],
    ['the answer is other JSON', answersAfter(201, '{"ok":true}')],
    ['the answer is too large', answersAfter(201, `{"id":"${'x'.repeat(70_000)}"}`)],
  ];
  it.each(faults)('never makes a second effect where %s, whatever is asked or due meanwhile', async (_what, fault) => {
    const at = await stage(kind);
    at.api.faults.POST.push(fault);
    // The call's own look-up does not answer either.
    at.api.faults.GET.push(neverArrives);
    const first = await at.call();
    for (let minutes = 0; minutes < 90; minutes += 5) {
      await at.alarm();
      await at.call();
      at.later(5 * 60_000);
    }
    expect(at.api.effects).toHaveLength(1);
    if (kind === 'neither') {
      expect(first).toMatchObject({ code: 'UPSTREAM_UNAVAILABLE' });
      expect([at.open(), at.state(), sends(at).length]).toEqual([1, ['claimed'], 1]);
    } else expectOnce(at);
  });

  it('holds the subject while an effect of it is unknown', async () => {
    const at = await stage(kind);
    at.api.faults.POST.push(losesAnswer);
    at.api.always = (go, request) => (request.url.includes('/cards/') ? go(request) : losesAnswer(go, request));
    expect(await at.call()).toMatchObject({ code: 'UPSTREAM_UNAVAILABLE' });
    expect(await at.call(100)).toMatchObject({ code: 'SUBJECT_BUSY', next: 'stop_and_tell_user' });
    expect(await at.call(100, 'card-2')).toMatchObject({ code: 'UPSTREAM_UNAVAILABLE' });
    expect(at.api.effects.map(({ card }) => card)).toEqual(['card-1', 'card-2']);
  });
});

describe('a request that never arrived', () => {
  it('is sent again with the same key and bytes at once where a key makes that harmless', async () => {
    const at = await stage('key only');
    at.api.faults.POST.push(neverArrives);
    expect(await at.call()).toMatchObject({ ok: true });
    expectOnce(at);
    const [first, second] = sends(at);
    expect(first?.key).toMatch(/^[\w-]{43}$/);
    expect(second).toEqual(first);
  });

  it('is never sent again without a key: the look-up proves it absent after quiet and lag, and the next call is attempt 2', async () => {
    const at = await stage('look-up only');
    at.api.faults.POST.push(neverArrives);
    expect(await at.call()).toMatchObject({ code: 'UPSTREAM_UNAVAILABLE' });
    at.later(QUIET_MS + LAG_MS - 1);
    expect(await at.call()).toMatchObject({ code: 'UPSTREAM_UNAVAILABLE' });
    expect(at.state()).toEqual(['claimed']);
    at.later(1);
    await at.alarm();
    expect(at.attempts()).toEqual([
      { applied: 0, code: 'UPSTREAM_UNAVAILABLE', attempt: 1, sends: 1, external_id: null },
    ]);
    expect(await at.call()).toMatchObject({ ok: true });
    expect(sends(at)).toHaveLength(2);
    expect(at.api.effects).toHaveLength(1);
  });

  it('is found although it landed late, before it was quiet', async () => {
    const at = await stage('look-up only');
    at.api.faults.POST.push(neverArrives);
    await at.call();
    at.later(QUIET_MS - 1);
    const [late] = sends(at);
    if (late === undefined) throw new Error('nothing was sent');
    await at.api.land(late);
    at.later(LAG_MS + 1);
    await at.alarm();
    expectOnce(at);
  });

  it('waits for the operator where the API has neither key nor look-up, and the alarm lets it be', async () => {
    const at = await stage('neither');
    at.api.faults.POST.push(neverArrives);
    await at.call();
    at.later(48 * 60 * 60_000);
    await at.alarm();
    expect([at.state(), at.open(), sends(at).length]).toEqual([['claimed'], 1, 1]);
    expect(await at.call()).toMatchObject({ code: 'UPSTREAM_UNAVAILABLE' });
  });
});

describe('a refusal', () => {
  it('is not final while an earlier send may still be executed and refusals are not kept', async () => {
    const at = await stage('key only');
    at.api.faults.POST.push(losesAnswer, answersInstead(422));
    expect(await at.call()).toMatchObject({ code: 'UPSTREAM_UNAVAILABLE' });
    await at.alarm();
    expect(await at.call()).toMatchObject({ ok: true });
    expectOnce(at);
  });

  it('is final where it is kept under the key', async () => {
    const at = await stage('key only', { refusals: 'kept' });
    at.api.faults.POST.push(neverArrives, answersInstead(422));
    expect(await at.call()).toMatchObject({ code: 'LIMIT_REACHED' });
    expect([at.state(), at.open()]).toEqual([['failed'], 0]);
  });
});

describe('an unknown effect', () => {
  it('is not sent again after its hour, nor to another account', async () => {
    const at = await stage('key only');
    at.api.faults.POST.push(neverArrives, neverArrives);
    await at.call();
    at.variables['SHOP_ACCOUNT'] = 'another';
    await at.alarm();
    await at.call();
    expect(sends(at)).toHaveLength(2);
    at.variables['SHOP_ACCOUNT'] = VARIABLES.SHOP_ACCOUNT;
    at.later(60 * 60_000);
    await at.alarm();
    await at.call();
    expect(sends(at)).toHaveLength(2);
    expect(at.state()).toEqual(['claimed']);
  });

  it('is not looked up in another account, where it would seem absent', async () => {
    const at = await stage('look-up only');
    at.api.faults.POST.push(losesAnswer);
    at.api.faults.GET.push(neverArrives);
    await at.call();
    at.variables['SHOP_ACCOUNT'] = 'another';
    at.later(QUIET_MS + LAG_MS);
    at.api.always = answersInstead(200, '{"items":[]}');
    await at.alarm();
    expect(await at.call()).toMatchObject({ code: 'UPSTREAM_UNAVAILABLE' });
    expect([at.state(), at.attempts()]).toEqual([['claimed'], []]);
    at.api.always = null;
    at.variables['SHOP_ACCOUNT'] = VARIABLES.SHOP_ACCOUNT;
    at.later(60 * 60_000);
    await at.alarm();
    expectOnce(at);
  });

  it('is looked up, and not sent again, once its caller is revoked', async () => {
    const at = await stage('key and look-up');
    at.api.faults.POST.push(neverArrives);
    at.api.faults.GET.push(neverArrives);
    await at.call();
    const { policy } = JSON.parse(
      String(at.shared.prepare("SELECT json_object('policy', json(policy)) AS p FROM callers").get()?.['p']),
    ) as { policy: Policy };
    at.shared.exec('UPDATE callers SET revoked_at = 1, version = 2');
    await at.session.tell({ version: 2, name: 'Shop', policy, revoked: true });
    at.later(10_000);
    await at.alarm();
    expect(sends(at)).toHaveLength(1);
    at.later(QUIET_MS + LAG_MS);
    await at.alarm();
    expect(at.attempts()).toMatchObject([{ applied: 0 }]);
    expect(at.api.effects).toEqual([]);
  });

  it('executes under ANSWER_UNREADABLE where what is found does not fit the output', async () => {
    const at = await stage('key and look-up');
    at.api.faults.POST.push(async () =>
      Response.json({ id: 'not an id', reference: 'r', cents: 1, state: 'done' }, { status: 201 }),
    );
    expect(await at.call()).toMatchObject({ ok: false, code: 'ANSWER_UNREADABLE', next: 'stop_and_tell_user' });
    expect(await at.call()).toMatchObject({ ok: false, code: 'ANSWER_UNREADABLE', replayed: true });
    expect(at.state()).toEqual(['executed']);
  });
});
