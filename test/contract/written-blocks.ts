/** The files that a document tells its reader to write, and the lines that it tells them to add. */
const BLOCK = /^```(?<kind>ts|sql|diff) (?<path>\S+)\n(?<text>[^]*?)^```$/gm;

export type Block = { kind: string; path: string; text: string };

export const blocksOf = (document: string): Block[] =>
  [...document.matchAll(BLOCK)].map(({ groups }) => groups as Block);

/** Adds each line marked `+` below the line before it. */
export function withAddedLines(text: string, diff: string): string {
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
