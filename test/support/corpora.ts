import { existsSync, readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';

/** Test material of others, never part of this repository: `CORPORA_DIR`, or a folder beside the checkout. */
const root = path.resolve(process.env['CORPORA_DIR'] ?? '../shared/corpora');

export interface Corpus {
  /** The names in the folder, sorted. */
  readonly names: readonly string[];
  /** The names of the files in one folder of it, each with that folder's, sorted. */
  readonly namesIn: (folder: string) => readonly string[];
  /** A file as UTF-8 text; what is no UTF-8 reads as U+FFFD. */
  readonly text: (name: string) => string;
  readonly bytes: (name: string) => Uint8Array<ArrayBuffer>;
}

/** Describes what holds for one folder of it; where that is missing, one skipped test says so. */
export function describeCorpus(folder: string, body: (corpus: Corpus) => void): void {
  const directory = path.join(root, folder);
  const missing = !existsSync(directory);
  describe.skipIf(missing)(`corpus ${folder}`, () => {
    it('is a folder of CORPORA_DIR', () => expect(missing).toBe(false));
    if (missing) return;
    body({
      names: readdirSync(directory).toSorted(),
      namesIn: (folder) =>
        readdirSync(path.join(directory, folder))
          .toSorted()
          .map((name) => `${folder}/${name}`),
      text: (name) => readFileSync(path.join(directory, name), 'utf8'),
      bytes: (name) => new Uint8Array(readFileSync(path.join(directory, name))),
    });
  });
}

/** Every string in a JSON value. */
export function stringsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(stringsIn) : [];
}

/** The strings of one file: a line each, or what a JSON file holds. */
export const payloadsOf = (corpus: Corpus, name: string): string[] =>
  name.endsWith('.json') ? stringsIn(JSON.parse(corpus.text(name))) : corpus.text(name).split('\n');
