/** Limits of a call as a whole. */

/** A call is answered within this; a model's host gives up not much later. */
const CALL_LIMIT_MS = 20_000;

export const deadlineOf = (call: { started_at: number }): number => call.started_at + CALL_LIMIT_MS;
