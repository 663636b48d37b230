import { describe, expect, expectTypeOf, it } from 'vitest';
import * as z from 'zod';
import type { JsonObject } from '../../../src/gate/json.ts';
import type { Attempt, Kit, Port, SqlRow, Statement } from '../../../src/gate/ports.ts';
import { defineTool, type BoundEffect, type BoundRead, type Tool } from '../../../src/gate/tool/define-tool.ts';
import { noBackends } from '../../support/backends.ts';

const declared = {
  name: 'lookup',
  description: 'Looks something up.',
  effect: 'none',
  risky: false,
  input: z.strictObject({
    filter: z.strictObject({ amount_cents: z.int().describe('Amount in minor units (cents).') }).optional(),
  }),
  output: z.strictObject({}),
  codes: {},
  run: async () => ({ ok: true, data: {} }) as const,
} as const;

const effect = {
  name: 'book',
  description: 'Books something.',
  risky: true,
  input: z.strictObject({ item: z.string(), times: z.int().default(1) }),
  output: z.strictObject({ item: z.string() }),
  codes: { NOT_FOUND: () => 'There is no such item.' },
  check: async () => ({ ok: true, seen: {} }) as const,
  effect: {
    ledger: 'books',
    send: ({ item }: { item: string }) => ({
      sql: 'SELECT code, answer, facts FROM items WHERE item = ?1',
      params: [item],
    }),
  },
} as const;

const context = { customer_id: 'CUS-1', signal: new AbortController().signal };

/** A kit whose ledger answers each batch with these rows of its last statement, and what it was sent. */
function kitOf(rows: SqlRow[] = []): { kit: Kit; sent: Statement[][] } {
  const sent: Statement[][] = [];
  const ledger: Kit['ledger'] = {
    all: () => Promise.reject(new Error('the tool read')),
    async batch(statements) {
      sent.push(statements);
      return [...statements.slice(1).map(() => []), rows];
    },
  };
  return { kit: { ledger, backends: noBackends, now: () => 1_000 }, sent };
}

/** A port of which each opening is counted. */
function counted<Api>(api: Api): { port: Port<Api>; openedWith: Kit[] } {
  const openedWith: Kit[] = [];
  const port = {
    open(kit: Kit): Api {
      openedWith.push(kit);
      return api;
    },
  };
  return { port, openedWith };
}

function bind(tool: Tool, args: JsonObject): BoundRead | BoundEffect {
  const valid = tool.bind(args);
  if (!valid.ok) throw new Error('the arguments do not fit');
  return valid.bound;
}

function boundRead(tool: Tool, args: JsonObject = {}): BoundRead {
  const bound = bind(tool, args);
  if (bound.effect !== 'none') throw new Error('it has an effect');
  return bound;
}

function boundEffect(tool: Tool, args: JsonObject = { item: 'a' }): Extract<BoundEffect, { external: null }> {
  const bound = bind(tool, args);
  if (bound.effect !== 'keyed' || bound.external !== null) throw new Error('it has no effect');
  return bound;
}

describe('defineTool', () => {
  it.each(['', 'Lookup', '1_lookup', 'look-up', 'look up', 'lookup\n', `l${'x'.repeat(40)}`])(
    'refuses the name %j',
    (name) => {
      const message = `the tool name ${JSON.stringify(name)} must match`;
      expect(() => defineTool({ ...declared, name })).toThrow(message);
      expect(() => defineTool({ ...effect, name })).toThrow(message);
    },
  );

  it.each([
    [{ filter: { amount_cents: 'x' } }, ['filter.amount_cents']],
    [{ filter: { amount_cents: 1, more: 1, 'a b': 1 } }, ['filter.more', 'filter.(unknown)']],
    [{ more: 1 }, ['more']],
  ])('names the fields of %j by their dotted path', (args, fields) => {
    const bound = defineTool(declared).bind(args);
    expect(bound.ok ? [] : bound.problems.map(({ field }) => field)).toEqual(fields);
  });

  it('shows the example it declares, which is no part of the contract', () => {
    const example = { filter: { amount_cents: 2_590 } };
    const tool = defineTool({ ...declared, example });
    expect(tool.example).toEqual(example);
    expect(defineTool(declared).example).toBeNull();
    expect(tool.contract).toBe(defineTool(declared).contract);
  });

  it('refuses an example that its own input does not fit', () => {
    expect(() => defineTool({ ...declared, example: { filter: { amount_cents: 25.9 } } })).toThrow(
      'the example of lookup does not fit its input at filter.amount_cents',
    );
  });

  it('repeats the description of a field that does not fit, however deep', () => {
    const bound = defineTool(declared).bind({ filter: { amount_cents: 25.9 } });
    expect(bound.ok ? [] : bound.problems).toMatchObject([{ hint: 'Amount in minor units (cents).' }]);
  });
});

describe('a tool that reads', () => {
  it('is handed the ports it declares, opened with the kit of each call, and no others', async () => {
    const [orders, rates] = [counted('the orders'), counted(7)];
    const handed: object[] = [];
    const tool = defineTool({
      ...declared,
      reads: { orders: orders.port, rates: rates.port },
      run: async (_input, ports) => {
        expectTypeOf(ports).toEqualTypeOf<{ orders: string; rates: number }>();
        handed.push(ports);
        return { ok: true, data: {} };
      },
    });
    const bound = boundRead(tool);
    expect(orders.openedWith).toEqual([]);
    const kits = [kitOf().kit, kitOf().kit];
    for (const kit of kits) await bound.run(kit, context);
    expect(handed).toEqual([
      { orders: 'the orders', rates: 7 },
      { orders: 'the orders', rates: 7 },
    ]);
    for (const { openedWith } of [orders, rates]) {
      expect(openedWith).toHaveLength(2);
      for (const [index, kit] of kits.entries()) expect(openedWith[index]).toBe(kit);
    }
  });

  it('is handed nothing where it declares no port', async () => {
    let handed: object | undefined;
    const tool = defineTool({
      ...declared,
      run: async (_input: unknown, ports: object) => {
        handed = ports;
        return { ok: true, data: {} };
      },
    });
    await boundRead(tool).run(kitOf().kit, context);
    expect(handed).toEqual({});
  });

  it('has nothing that could be sent', () => {
    expect(defineTool(declared).effect).toBe('none');
    expect(Object.keys(boundRead(defineTool(declared)))).toEqual(['effect', 'input', 'run']);
  });
});

describe('a tool with an effect', () => {
  it('is keyed, and names its books, its subject and its money', () => {
    const tool = defineTool({
      ...effect,
      effect: {
        ...effect.effect,
        subject: ({ item }: { item: string }) => item,
        money: ({ times }: { times: number }) => ({ amount_cents: 100 * times, currency: 'BRL' }),
      },
    });
    expect(tool.effect).toBe('keyed');
    const bound = boundEffect(tool, { item: 'a', times: 3 });
    expect(bound.subject({})).toBe('a');
    expect(bound).toMatchObject({
      effect: 'keyed',
      input: { item: 'a', times: 3 },
      backend: 'ledger:books',
      money: { amount_cents: 300, currency: 'BRL' },
    });
  });

  it('has no subject, no money and no facts unless it says so', () => {
    const bound = boundEffect(defineTool(effect));
    expect(bound.subject({})).toBeNull();
    expect(bound).toMatchObject({ money: null, input: { item: 'a', times: 1 } });
    expect(bound.facts({ item: 'a' })).toEqual([]);
    expect(bound).not.toHaveProperty('run');
  });

  it('checks with the ports it declares, and shows facts of what it saw', async () => {
    const { port } = counted({ left: 3 });
    const tool = defineTool({
      ...effect,
      reads: { stock: port },
      check: async ({ item }, { stock }, { customer_id }) => ({ ok: true, seen: { item, customer_id, ...stock } }),
      facts: ({ left, customer_id }) => [
        { label: 'Left', value: String(left) },
        { label: 'For', value: String(customer_id), outside: true },
      ],
    });
    const bound = boundEffect(tool);
    const checked = await bound.check(kitOf().kit, context);
    expect(checked).toEqual({ ok: true, seen: { item: 'a', customer_id: 'CUS-1', left: 3 } });
    expect(bound.facts(checked.seen ?? {})).toEqual([
      { label: 'Left', value: '3' },
      { label: 'For', value: 'CUS-1', outside: true },
    ]);
  });

  const attempt: Attempt = {
    ...{ effect_key: 'effect', call_key: 'call', attempt: 2, uid: 'uid', caller_id: 'caller', tool: 'book' },
    ...{ backend: 'ledger:books', subject: 'a', money: null, waits: false },
  };

  it('is sent as one batch: its own judgement and the row of the attempt, then that row is read', async () => {
    const { kit, sent } = kitOf([{ applied: 1, code: null, answer: '{"item":"a"}' }]);
    const row = await boundEffect(defineTool(effect)).send(kit, attempt, context);
    expect(row).toEqual({ applied: true, answer: { item: 'a' } });
    expect(sent.map((statements) => statements.length)).toEqual([2]);
    const [insert, read] = sent[0] ?? [];
    expect(insert?.sql).toContain('WITH judged AS (SELECT code, answer, facts FROM items WHERE item = ?1)');
    expect(insert?.sql).toContain('INSERT INTO attempts');
    expect(insert?.params.slice(0, 2)).toEqual(['a', 'caller']);
    expect(insert?.params).toContain('{"item":"a","times":1}');
    expect(insert?.params.slice(-2)).toEqual([1_000, 0]);
    expect(read?.params).toEqual(['ledger:books', 'a', 'effect']);
  });

  it('is as applied as its row says, whatever it asked for', async () => {
    const bound = boundEffect(defineTool(effect));
    const refused = kitOf([{ applied: 0, code: 'NOT_FOUND', answer: '{"left":0}' }]);
    expect(await bound.send(refused.kit, attempt, context)).toEqual({
      applied: false,
      code: 'NOT_FOUND',
      facts: { left: 0 },
    });
  });

  it.each([
    ['no row', [], 'is required'],
    ['a void without a code', [{ applied: 0, code: null, answer: '{}' }], 'a void without a code'],
    ['an answer that is not JSON', [{ applied: 1, code: null, answer: 'no' }], 'not JSON'],
  ])('settles nothing on %s', async (_what, rows, message) => {
    const sending = boundEffect(defineTool(effect)).send(kitOf(rows).kit, attempt, context);
    await expect(sending).rejects.toThrow(message);
  });
});
