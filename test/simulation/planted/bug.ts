/** A bug as a change of text: nothing in the product knows of it. */
export type Replacement = { file: string; find: string; replace: string };
export type PlantedBug = { name: string; replacements: Replacement[] };

/**
 * Plants one replacement. The text must be there exactly once, whatever its line breaks: a bug that no longer fits its file
 * would be caught by nothing, and say nothing.
 */
export function plant(source: string, { file, find, replace }: Replacement): string {
  const places = Array.from({ length: source.length }, (_, place) => place).filter(
    (place) => !/\s/.test(source.charAt(place)),
  );
  const dense = places.map((place) => source[place]).join('');
  const wanted = find.replaceAll(/\s/g, '');
  const at = dense.indexOf(wanted);
  if (at === -1 || dense.indexOf(wanted, at + 1) !== -1) throw new Error(`a planted bug does not fit ${file}: ${find}`);
  const [start, end] = [places[at] ?? 0, places[at + wanted.length - 1] ?? 0];
  return source.slice(0, start) + replace + source.slice(end + 1);
}

/** A bug that takes one replacement. */
export const one = (name: string, file: string, find: string, replace: string): PlantedBug => ({
  name,
  replacements: [{ file, find, replace }],
});
