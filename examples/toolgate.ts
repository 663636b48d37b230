/** What an agent loop needs of Toolgate: the tools of a session, and the answers to what a model proposes. */

export type Outcome = {
  call_id: string;
  tool: string;
  ok: boolean;
  code: string;
  message?: string;
  next?: 'fix_and_retry' | 'wait_for_approval' | 'use_previous_result' | 'stop_and_tell_user';
  approval?: { id: string };
};

export type Gate = ReturnType<typeof toolgate>;

/**
 * Opens the session of one conversation and gives its token; asked again with the same body, it joins that session for a
 * fresh one. The API key stays with the host: the loop gets the token.
 */
export async function openSession(url: string, apiKey: string, body: { session_id: string; customer_id: string }) {
  const answer = await granted(await send(`${url}/v1/sessions`, apiKey, body));
  return ((await answer.json()) as { token: string }).token;
}

/** `open` gives a token of the conversation's session: at first, and whenever the one before has run out. */
export function toolgate(url: string, open: () => Promise<string>) {
  let token: string | null = null;
  const ask = async (path: string, body?: object, headers?: Record<string, string>): Promise<Response> => {
    token ??= await open();
    const answer = await send(`${url}${path}`, token, body, headers);
    if (answer.status !== 401) return granted(answer);
    // An hour is over, or what the host gave as ttl_seconds. Nothing of a 401 was done.
    token = await open();
    return granted(await send(`${url}${path}`, token, body, headers));
  };
  /** The approvals that this conversation waits for. */
  const waiting = new Set<string>();
  return {
    waiting,

    /** The definitions as the provider's request takes them; equal bytes each time, so ask once a conversation. */
    async tools<Definition>(provider: string): Promise<Definition[]> {
      const answer = await ask(`/v1/tools?provider=${provider}`);
      return ((await answer.json()) as { tools: Definition[] }).tools;
    },

    /**
     * Has every call in the provider's response judged, and gives the results for its next request; none: it is done. Give
     * the response whole: where it says that it was cut, its calls are refused, and the model proposes them again.
     */
    async answer<Result>(provider: string, response: object): Promise<Result[]> {
      const answer = await ask(`/v1/calls/${provider}`, response, { 'Idempotency-Key': crypto.randomUUID() });
      const { results, outcomes } = (await answer.json()) as { results: Result[]; outcomes: Outcome[] };
      for (const { approval } of outcomes) if (approval !== undefined) waiting.add(approval.id);
      return results;
    },

    /** Waits until a person has decided and it is done, and says so in the words that the model reads. */
    async decided(approvalId: string): Promise<string> {
      const approval = `/v1/approvals/${approvalId}`;
      let status = 'pending';
      while (status === 'pending' || status === 'approved')
        ({ status } = (await (await ask(`${approval}?wait=25`)).json()) as { status: string });
      waiting.delete(approvalId);
      return (await ask(approval, undefined, { Accept: 'text/plain' })).text();
    },
  };
}

function send(url: string, credential: string, body?: object, more: Record<string, string> = {}): Promise<Response> {
  const headers = { Authorization: `Bearer ${credential}`, 'Content-Type': 'application/json', ...more };
  const request = () =>
    fetch(url, body === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) });
  // Where the connection broke, the answer is lost. Under its Idempotency-Key the same request again does nothing twice.
  return request().catch(request);
}

/** 401 and 409: the session has ended; 429: it takes no more calls, or too many polls. Every proposed call is 200. */
async function granted(answer: Response): Promise<Response> {
  if (!answer.ok) throw new Error(`Toolgate answered ${answer.status}: ${await answer.text()}`);
  return answer;
}
