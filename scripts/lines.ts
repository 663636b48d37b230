import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';

/** The lines of a text file, however large. Throws where it cannot be read. */
export async function* lines(file: string): AsyncGenerator<string> {
  const input = createReadStream(file, 'utf8');
  // readline does not pass the stream's errors on.
  const failed = new Promise<never>((_, reject) => input.once('error', reject));
  failed.catch(() => undefined);
  const reader = createInterface({ input, crlfDelay: Infinity })[Symbol.asyncIterator]();
  for (;;) {
    const next = await Promise.race([reader.next(), failed]);
    if (next.done === true) return;
    yield next.value;
  }
}
