/** What no cleaned string may hold, said once more by other expressions than those that clean. */
const FORBIDDEN: readonly [name: string, pattern: RegExp][] = [
  ['a control character', /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/],
  ['a bidirectional character', /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/],
  [
    'an invisible character',
    /[\u00ad\u115f\u1160\u180e\u200b-\u200d\u2060-\u206f\u2800\u3164\ufeff\uffa0\ufff9-\ufffb]|\u034f|\u17b4|\u17b5|[\u180b-\u180d]|\u180f/,
  ],
  ['a variation selector or tag', /[\ufe00-\ufe0f]|\udb40[\udc00-\udfff]/],
  ['half a surrogate pair', /\p{Surrogate}/u],
  ['a tag', /<[a-z/!?]/i],
  ['a URL', /:\/\/|\b(?:https?|ftp|javascript|vbscript|mailto):[^\s.,;:!?)\]}'"<>]|\bwww\.\w|data:[a-z]+\//i],
  ['an address without a scheme', /\b[a-z0-9-]+\.[a-z]{2,24}\/[a-z0-9]/i],
  ['an e-mail address', /[^\s@]@(?!\d+\.\d+(?![\w.-]))[a-z0-9-]+\.[a-z0-9]/i],
  [
    'a posing phrase',
    /system override|(?:ignore|disregard|forget) (?:(?:all|any|the|your|my|of) ){0,3}(?:previous|prior|above) (?:instructions|directives|rules|prompts)/i,
  ],
  ['a line break or two spaces', /\n|\s\s|^\s|\s$/],
];

/** Plain text keeps comparisons such as `x<y`: an operand, then no known element, no whole tag and no event handler. */
const COMPARISON =
  /(?<=[\p{L}\p{N}\p{Sc})\]] ?)<(?=[a-z])(?!(?:script|style|img|svg|iframe|br|div|table|title)\b|\w*>|.*\bon\w+\s*=)/giu;

/** The kinds of flaw that a string still has. */
export function flawsIn(text: string, kind: 'plain' | 'markdown' | 'html'): string[] {
  const judged = kind === 'plain' ? text.replace(COMPARISON, '< ') : text;
  return FORBIDDEN.filter(([, pattern]) => pattern.test(judged)).map(([name]) => name);
}
