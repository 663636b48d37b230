/**
 * `npm run bench [-- --windows N] [--calls N]`: the built Worker against a floor Worker that makes the same rows and trips
 * (floor-worker.ts), both in one workerd, in windows that take turns. Prints the median over the windows of (median time of a
 * call through the gate / through the floor). Times of a machine mean nothing by themselves; these ratios do.
 */
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';
import { SignJWT } from 'jose';
import { onStage } from '../live/stage.ts';
import { Gate } from '../live/gate.ts';

const KINDS = ['refused', 'replay', 'read', 'effect'] as const;
type Kind = (typeof KINDS)[number];
/** The goals that the project set itself for these ratios (docs/performance.md). */
const GOALS: Record<Kind, number> = { refused: 1.35, replay: 1.35, read: 1.25, effect: 1.25 };
const FLOOR_HOST = 'floor.test';
const SECRET = 'f'.repeat(64);

const { values } = parseArgs({
  options: { windows: { type: 'string', default: '9' }, calls: { type: 'string', default: '150' } },
});
const WINDOWS = Number(values.windows);
const CALLS = Number(values.calls);

const agent = new Agent({ keepAlive: true, maxSockets: 1 });

/** Sends one call and resolves with its milliseconds. */
function timed(url: URL, host: string, token: string, body: object): Promise<number> {
  const text = JSON.stringify(body);
  const started = performance.now();
  return new Promise((resolve, fail) => {
    const headers = {
      host,
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'content-length': new TextEncoder().encode(text).length,
    };
    const sent = request(
      { agent, host: url.hostname, port: url.port, path: '/v1/calls', method: 'POST', headers },
      (answer) => {
        answer.resume();
        answer.on('end', () =>
          answer.statusCode === 200
            ? resolve(performance.now() - started)
            : fail(new Error(`${host}: ${answer.statusCode}`)),
        );
      },
    );
    sent.on('error', fail);
    sent.end(text);
  });
}

const median = (numbers: number[]): number => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? NaN;

async function window(send: (call: number) => Promise<number>): Promise<number> {
  const times: number[] = [];
  for (let call = 0; call < CALLS; call += 1) times.push(await send(call));
  // The first calls of a window open the session's object.
  return median(times.slice(10));
}

const bodyOf = (kind: Kind, call: number): object => {
  switch (kind) {
    case 'refused':
      return { tool: 'get_order', arguments: { order_id: 'none' } };
    case 'read':
      return { tool: 'get_order', arguments: { order_id: 'ORD-1001' } };
    case 'replay':
      return {
        tool: 'refund_order',
        arguments: { order_id: 'ORD-1001', amount_cents: 1, currency: 'BRL', reason: 'damaged' },
      };
    case 'effect':
      return {
        tool: 'refund_order',
        arguments: { order_id: 'ORD-1001', amount_cents: call + 2, currency: 'BRL', reason: 'damaged' },
      };
  }
};

/** The folder of the bundle. */
async function bundleFloor(folder: string): Promise<string> {
  const rootPath = join(folder, 'floor');
  await build({
    entryPoints: [join(import.meta.dirname, 'floor-worker.ts')],
    bundle: true,
    format: 'esm',
    conditions: ['workerd'],
    external: ['cloudflare:workers'],
    outfile: join(rootPath, 'index.js'),
  });
  return rootPath;
}

await onStage(
  'bench',
  async (worker) => {
    const url = new URL(worker.url);
    await worker.rows(
      "INSERT INTO orders (order_id, customer_id, total_cents, currency) VALUES ('ORD-1001', 'CUS-1', 900000000, 'BRL')",
    );
    const gate = new Gate(worker.url);
    const policy = {
      allowed_tools: ['get_order', 'refund_order'],
      confirm_above_cents: 50_000,
      max_steps: 1_000,
      max_duplicate_calls: 1_000,
    };
    const caller = await gate.newCaller({ name: 'Bench', ...policy });
    const ratios = Object.fromEntries(KINDS.map((kind) => [kind, [] as number[]])) as Record<Kind, number[]>;
    for (let round = 0; round < WINDOWS; round += 1) {
      for (const kind of KINDS) {
        const name = `${kind}-${round}`;
        const { token } = await gate.open(caller, name);
        const floorToken = await new SignJWT({ session: name })
          .setProtectedHeader({ alg: 'HS256' })
          .setExpirationTime('1h')
          .sign(new TextEncoder().encode(SECRET));
        const through = () => window((call) => timed(url, url.host, token, bodyOf(kind, call)));
        const floor = () => window((call) => timed(url, FLOOR_HOST, floorToken, { kind, key: `${name}-${call}` }));
        // In turns, so that neither always meets what the other left.
        const [first, second] = round % 2 === 0 ? [await through(), await floor()] : [await floor(), await through()];
        const ratio = round % 2 === 0 ? first / second : second / first;
        ratios[kind].push(ratio);
        console.log(`window ${round + 1} ${kind.padEnd(8)} ${ratio.toFixed(2)} x the floor`);
      }
    }
    console.log(`\nMedians of ${WINDOWS} windows of ${CALLS} calls:`);
    for (const kind of KINDS)
      console.log(`${kind.padEnd(8)} ${median(ratios[kind]).toFixed(2)} x the floor (goal ${GOALS[kind]})`);
  },
  async (folder) => [
    {
      name: 'floor',
      modules: true,
      rootPath: await bundleFloor(folder),
      scriptPath: 'index.js',
      compatibilityDate: '2026-11-01',
      routes: [`${FLOOR_HOST}/*`],
      bindings: { SECRET },
      durableObjects: { FLOOR: { className: 'Floor', useSQLite: true } },
      d1Databases: { DB: 'floor' },
    },
  ],
);
