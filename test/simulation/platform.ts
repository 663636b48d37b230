/**
 * Takes the place of the platform's clock, timers and randomness in this process, so that the product's own code runs on
 * the simulated world without knowing. Loaded before the product is.
 */
import { createHmac, createSecretKey, timingSafeEqual } from 'node:crypto';
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

/** WebCrypto's keys carry nothing that a synchronous HMAC could use, so the bytes are kept beside them. */
const secrets = new WeakMap<CryptoKey, Uint8Array>();

const hmac = (key: CryptoKey, data: Uint8Array): Uint8Array => {
  const secret = secrets.get(key);
  if (secret === undefined) throw new Error('a key that was not imported here');
  return new Uint8Array(createHmac('sha256', secret).update(data).digest());
};

/** Only what jose asks for with HS256. Real WebCrypto answers from a thread pool, whose order no seed decides. */
const subtle = {
  async importKey(_format: string, bytes: Uint8Array, _algorithm: unknown, extractable: boolean, usages: KeyUsage[]) {
    const secret = new Uint8Array(bytes);
    const key = createSecretKey(secret).toCryptoKey(
      { name: 'HMAC', hash: 'SHA-256' },
      extractable,
      usages,
    ) as CryptoKey;
    secrets.set(key, secret);
    return key;
  },
  async sign(_algorithm: unknown, key: CryptoKey, data: Uint8Array) {
    return hmac(key, data).buffer;
  },
  async verify(_algorithm: unknown, key: CryptoKey, signature: Uint8Array, data: Uint8Array) {
    const expected = hmac(key, data);
    return expected.byteLength === signature.byteLength && timingSafeEqual(expected, signature);
  },
};
type KeyUsage = 'sign' | 'verify';

/** What the product makes of chunks read from a body; the platform's own reads from a thread pool. */
class SynchronousBlob {
  readonly #chunks: Uint8Array[];
  constructor(chunks: Uint8Array[]) {
    this.#chunks = chunks;
  }
  async arrayBuffer(): Promise<ArrayBufferLike> {
    const bytes = new Uint8Array(this.#chunks.reduce((size, chunk) => size + chunk.byteLength, 0));
    let end = 0;
    for (const chunk of this.#chunks) {
      bytes.set(chunk, end);
      end += chunk.byteLength;
    }
    return bytes.buffer;
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
