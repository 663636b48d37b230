/** What `npm run dev` prints: commands that work as they stand, in the order of a first visit. */
import { lookUp, refund } from '../src/tools/orders/examples.ts';
import type { Demo } from './demo-caller.ts';
import { mailsUrl } from './local-mails.ts';

export function quickStart(url: string, { apiKey, token }: Demo): string {
  const call = (body: object): string =>
    `curl -sw '\\n' ${url}/v1/calls -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' \\\n` +
    `  -d '${JSON.stringify(body)}'`;
  return `
Toolgate serves ${url} (Ctrl-C ends it; its data stays in .wrangler/state, delete that to begin anew). It is described at
${url}/docs. Paste these into another terminal; the operator's token is ADMIN_TOKEN in .dev.vars.

# The agent's session token, and its caller's API key
TOKEN='${token}'
API_KEY='${apiKey}'

# 1. Call a tool
${call(lookUp)}

# 2. Ask for a refund: it waits for a person
ASKED=$(${call(refund)}); echo "$ASKED"

# 3. Read the approver's mail (it leaves within seconds; the first terminal shows its link too)
MAILS=${mailsUrl(url)}
APPROVAL=$(echo "$ASKED" | grep -o 'apr_[0-9a-f]*' | head -n 1)
mails() { for ID in $(curl -s "$MAILS" | grep -o '"messageId":"[^"]*"' | cut -d '"' -f 4); do curl -s -G "$MAILS" --data-urlencode "email_id=$ID"; done; }
LINK=; until [ -z "$APPROVAL" ] || [ -n "$LINK" ]; do sleep 1; LINK=$(mails | grep -o "${url}/approvals/$APPROVAL?t=[A-Za-z0-9_.-]*" | head -n 1); done; echo "\${LINK:-Nothing waits: see the answer to 2}"

# 4. Approve: open the link in a browser, type 25.90 and choose, or post what its form would (303: decided)
SHOWN=$(curl -s "$LINK" | grep -o 'name="shown" value="[0-9a-f.]*"' | grep -o '[0-9a-f.]\\{16,\\}')
curl -s -o /dev/null -w '%{http_code}\\n' "$LINK" -H 'Origin: ${url}' -d decision=approve -d phrase=25.90 -d "shown=$SHOWN"

# 5. Make the same call again: it is done, and was done once
${call(refund)}

# Open another session
curl -sw '\\n' ${url}/v1/sessions -H "Authorization: Bearer $API_KEY" -H 'Content-Type: application/json' -d '{"customer_id":"CUS-1"}'
`;
}
