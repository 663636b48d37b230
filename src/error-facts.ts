/** What the log may say of an exception. */

/** D1 names tables, columns, constraints and its own state, never a bound value; of a drifted answer the field is named. */
const SAFE_MESSAGE = /^D1_ERROR: |^[a-z0-9_]+ answered outside its output schema at [\w.]*$/;

/**
 * The error's class and where it was thrown. Its message is left out unless it is of a kind that holds no input: a JSON
 * error quotes what it could not read, a fetch error the address.
 */
export function errorFacts(error: unknown): { error: string; message?: string; at: string[] } {
  if (!(error instanceof Error)) return { error: typeof error, at: [] };
  const at = (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line));
  return {
    error: error.name,
    ...(SAFE_MESSAGE.test(error.message) ? { message: error.message } : {}),
    at: at.slice(0, 8).map((line) => line.trim()),
  };
}
