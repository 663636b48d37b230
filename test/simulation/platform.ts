/**
 * Takes the place of the platform's clock, timers and randomness in this process, so that the product's own code runs on
 * the simulated world without knowing. Loaded before the product is.
 */
import { SynchronousBlob, subtle } from '../support/synchronous.ts';
import type { Random } from './random.ts';
import type { Timer, VirtualTime } from './virtual-time.ts';

type World = { time: VirtualTime; random: Random };
let world: World | null = null;

/** From here on Date, timers and randomness are this world's. */
export function enter(next: World): void {
  world = next;
}

function here(): World {
  if (world === null) throw new Error('the product asked for time or randomness outside any world');
  return world;
}

/** The world's chance, for whoever asks the platform for some. */
export const worldRandom = (): Random => here().random;

const RealDate = Date;

class VirtualDate extends RealDate {
  constructor(...given: [] | [string | number | Date]) {
    super(given.length === 0 ? here().time.wall() : given[0]);
  }
  static override now(): number {
    return here().time.wall();
  }
}

const uuid = (hex: string): string =>
  `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;

Object.assign(globalThis, {
  Date: VirtualDate,
  Blob: SynchronousBlob,
  setTimeout: (run: () => void, ms = 0): Timer => here().time.after(ms, run),
  clearTimeout: (timer: Timer | undefined): void => here().time.cancel(timer ?? null),
});
const replaced = {
  subtle,
  randomUUID: () => uuid(here().random.hex(16)),
  getRandomValues(target: Uint8Array) {
    target.set(here().random.bytes(target.length));
    return target;
  },
};
for (const [name, value] of Object.entries(replaced)) Object.defineProperty(crypto, name, { value });

/** The product's log lines; a million seeds of them would drown what a run has to say. */
for (const name of ['log', 'error'] as const) console[name] = () => undefined;
