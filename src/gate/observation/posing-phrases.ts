/**
 * Phrases by which an outside string poses as an instruction: the one list. It is a courtesy, not the guard: whoever wants
 * to get past it words it differently, and nothing that is guarded asks what a string says.
 */

/** Matched in text whose white space is single spaces, whatever the case. None may need more than linear time. */
export const POSING_PHRASES: readonly RegExp[] = [
  /system override/gi,
  /(?:ignore|disregard|forget) (?:(?:all|any|the|your|my|of) ){0,3}(?:previous|prior|above) (?:instructions|directives|rules|prompts)/gi,
];
