/** What the platform answers from a thread pool, in whose order no seed has a say: here it is answered at once. */
import { createHmac, createSecretKey, timingSafeEqual } from 'node:crypto';

/** WebCrypto's keys carry nothing that a synchronous HMAC could use, so the bytes are kept beside them. */
const secrets = new WeakMap<CryptoKey, Uint8Array>();

const hmac = (key: CryptoKey, data: Uint8Array): Uint8Array => {
  const secret = secrets.get(key);
  if (secret === undefined) throw new Error('a key that was not imported here');
  return new Uint8Array(createHmac('sha256', secret).update(data).digest());
};

/** Only what jose asks WebCrypto for with HS256. */
export const subtle = {
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

/** What the product makes of chunks read from a body. */
export class SynchronousBlob {
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
