/** The files that a document tells its reader to write, and the lines that it tells them to add. */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');
const BLOCK = /^```(?<kind>ts|sql|diff) (?<path>\S+)\n(?<text>[^]*?)^```$/gm;

type Block = { kind: string; path: string; text: string };

const blocksOf = (document: string): Block[] => [...document.matchAll(BLOCK)].map(({ groups }) => groups as Block);

/** A temporary copy of these paths of the repository, after the document was followed. The caller removes it. */
export function followedCopy(document: string, paths: readonly string[]): string {
  const copy = mkdtempSync(join(tmpdir(), 'toolgate-'));
  for (const path of paths) cpSync(join(ROOT, path), join(copy, path), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
  for (const { kind, path, text } of blocksOf(document)) {
    const file = join(copy, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, kind === 'diff' ? withAddedLines(readFileSync(file, 'utf8'), text) : text);
  }
  return copy;
}

/** Adds each line marked `+` below the line before it. */
function withAddedLines(text: string, diff: string): string {
  let place = '';
  return diff
    .trimEnd()
    .split('\n')
    .reduce((so_far, line) => {
      const [mark, rest] = [line.slice(0, 1), `\n${line.slice(1)}`];
      if (mark !== '+') place = rest;
      if (!so_far.includes(place)) throw new Error(`the file has no line "${place}"`);
      return mark === '+' ? so_far.replace(place, () => place + rest) : so_far;
    }, `\n${text}`)
    .slice(1);
}
