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

/** Opens a session for one conversation. The API key stays with the host: the loop gets the session's token. */
export async function openSession(url: string, apiKey: string, body: object): Promise<{ token: string }> {
  return (await ask(`${url}/v1/sessions`, apiKey, body)).json() as Promise<{ token: string }>;
}

export function toolgate(url: string, token: string) {
  /** The approvals that this conversation waits for. */
  const waiting = new Set<string>();
  return {
    waiting,

    /** The definitions as the provider's request takes them; equal bytes each time, so ask once a conversation. */
    async tools<Definition>(provider: string): Promise<Definition[]> {
      const answer = await ask(`${url}/v1/tools?provider=${provider}`, token);
      return ((await answer.json()) as { tools: Definition[] }).tools;
    },

    /** Has every call in the provider's response judged, and gives the results for its next request; none: it is done. */
    async answer<Result>(provider: string, response: object): Promise<Result[]> {
      const answer = await ask(`${url}/v1/calls/${provider}`, token, response);
      const { results, outcomes } = (await answer.json()) as { results: Result[]; outcomes: Outcome[] };
      for (const { approval } of outcomes) if (approval !== undefined) waiting.add(approval.id);
      return results;
    },

    /** Waits until a person has decided and it is done, and says so in the words that the model reads. */
    async decided(approvalId: string): Promise<string> {
      const approval = `${url}/v1/approvals/${approvalId}`;
      let status = 'pending';
      while (status === 'pending' || status === 'approved')
        ({ status } = (await (await ask(`${approval}?wait=25`, token)).json()) as { status: string });
      waiting.delete(approvalId);
      return (await ask(approval, token, undefined, 'text/plain')).text();
    },
  };
}

async function ask(url: string, credential: string, body?: object, accept = 'application/json'): Promise<Response> {
  const headers = { Authorization: `Bearer ${credential}`, 'Content-Type': 'application/json', Accept: accept };
  const answer = await fetch(
    url,
    body === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) },
  );
  // 401: the session has ended; 429: it takes no more calls, or too many polls. Every proposed call is 200.
  if (!answer.ok) throw new Error(`Toolgate answered ${answer.status}: ${await answer.text()}`);
  return answer;
}
