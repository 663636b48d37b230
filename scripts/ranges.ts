import type { Range } from './operator-view.ts';

/**
 * Times of opening that divide sessions into about equal parts, so that their heads can be asked for side by side. Together the
 * ranges hold every session within `opened`, also those that are not among `uids`.
 */
export function rangesOf(uids: readonly string[], parts: number, opened: Range = {}): Range[] {
  const times = uids
    .filter((uid) => /^[0-9a-f]{12}/.test(uid))
    .map((uid) => parseInt(uid.slice(0, 12), 16))
    .filter((time) => opened.from === undefined || time > Date.parse(opened.from))
    .toSorted((a, b) => a - b);
  const borders = Array.from(
    { length: parts - 1 },
    (_, place) => times[Math.floor((times.length * (place + 1)) / parts)],
  );
  const ends = [...new Set(borders.filter((time) => time !== undefined))].map((time) => new Date(time).toISOString());
  return [opened.from, ...ends].map((from, place) => ({
    ...(from === undefined ? {} : { from }),
    ...(ends[place] === undefined ? {} : { to: ends[place] }),
  }));
}
