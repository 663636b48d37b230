/** Messages between the Worker and the objects: they take time, arrive twice, and their answers get lost. */
import type { SessionCore } from '../../src/gate/session/core.ts';
import type { SessionRpc } from '../../src/gate/session/rpc.ts';
import type { Random } from './random.ts';
import type { Faults } from './scenario.ts';
import type { SimulatedObject } from './session-object.ts';
import type { VirtualTime } from './virtual-time.ts';

const METHODS = [
  ...[
    'open',
    'end',
    'call',
    'tools',
    'approval',
    'view',
    'decide',
    'tell',
    'mailTask',
    'delivered',
    'resend',
    'withdraw',
    'heads',
    'wake',
  ],
] as (keyof SessionRpc)[];

export type Network = { time: VirtualTime; faults: Faults; random: Random; note(what: string): void };

/** A stub that saw its object die stays broken, as the platform's do. */
export function stubFor(object: SimulatedObject, network: Network): SessionRpc {
  let broken: Error | null = null;
  const ask = async (method: keyof SessionCore, args: unknown[]): Promise<unknown> => {
    if (broken !== null) throw broken;
    const { time, faults, random } = network;
    await time.sleep(random.skewed(0.2, 40));
    if (method === 'call' && random.chance(faults.duplicateCall)) {
      network.note(`${object.label}: the call arrives twice`);
      time.after(random.skewed(0, 3_000), () => void object.invoke(method, args).catch(() => undefined));
    }
    const answer = await object.invoke(method, args).catch((error: unknown) => error);
    await time.sleep(random.skewed(0.2, 40));
    const lost = random.chance(faults.lostReply);
    if (!(answer instanceof Error) && !lost) return answer;
    broken = answer instanceof Error ? answer : new Error('Network connection lost.');
    network.note(`${object.label}: ${method} ends with ${broken.message}`);
    throw broken;
  };
  const entries = METHODS.map((method) => [method, (...args: unknown[]) => ask(method, args)]);
  return Object.fromEntries(entries) as SessionRpc;
}
