/** Longer than the longest poll; what takes longer hangs. */
const ANSWER_LIMIT_MS = 40_000;

/** The answer to a request of a script, which never waits for ever: where none comes, the error says to what. */
export async function answerOf(url: string, init: RequestInit = {}): Promise<Response> {
  try {
    return await fetch(url, { ...init, signal: AbortSignal.timeout(ANSWER_LIMIT_MS) });
  } catch (error) {
    const reason = error instanceof DOMException ? `within ${ANSWER_LIMIT_MS / 1_000} seconds` : 'at all';
    throw new Error(`${new URL(url).pathname} was not answered ${reason}.`, { cause: error });
  }
}
