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

/** The JSON that answers a request with a credential: a POST where there is a body. Throws with the status and body of a refusal. */
export async function askJson(url: string, credential: string, body?: object): Promise<unknown> {
  const headers = {
    Authorization: `Bearer ${credential}`,
    ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
  };
  const init = body === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) };
  const answer = await answerOf(url, init);
  if (!answer.ok) throw new Error(`${new URL(url).pathname} answered ${answer.status}: ${await answer.text()}`);
  return answer.json();
}
