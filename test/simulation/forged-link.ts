/** A link whose token is signed by the gate, but as a session's: the one thing a mix-up of audiences would let pass. */
import { createHmac, createSecretKey, hkdfSync } from 'node:crypto';
import { base64url } from 'jose';
import { signSessionToken } from '../../src/gate/auth/tokens.ts';
import type { Config } from '../../src/gate/env.ts';

const encoded = (value: object): string => base64url.encode(JSON.stringify(value));

/** The claims of a token, which whoever holds it can read. */
export const claimsIn = (token: string | undefined, part: 0 | 1 = 1): object =>
  JSON.parse(new TextDecoder().decode(base64url.decode(token?.split('.')[part] ?? ''))) as object;

/** The same claims for the audience `session`, under the session's key. */
export async function forgedLink(link: string, config: Config): Promise<string> {
  const [address, token = ''] = link.split('t=');
  const key = new Uint8Array(hkdfSync('sha256', createSecretKey(config.secret, 'hex'), '', 'toolgate/session', 32));
  const sign = (text: string): string => createHmac('sha256', key).update(text).digest('base64url');

  const honest = await signSessionToken(config, { caller: 'c', session: 's', uid: 'u', expiresAt: 1_900_000_000_000 });
  const [head, body, signature] = honest.split('.');
  if (sign(`${head ?? ''}.${body ?? ''}`) !== signature)
    throw new Error('this no longer is how session tokens are signed');

  const text = `${encoded(claimsIn(token, 0))}.${encoded({ ...claimsIn(token), aud: 'session' })}`;
  return `${address ?? ''}t=${text}.${sign(text)}`;
}
