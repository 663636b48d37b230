/** A link whose token is signed by the gate, but as a session's: the one thing a mix-up of audiences would let pass. */
import { Buffer } from 'node:buffer';
import { createHmac, hkdfSync } from 'node:crypto';
import { signSessionToken } from '../../src/auth/tokens.ts';
import type { Config } from '../../src/env.ts';

const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const decoded = (part: string | undefined): object => JSON.parse(Buffer.from(part ?? '', 'base64url').toString()) as object;

/** The same claims for the audience `session`, under the session's key. */
export async function forgedLink(link: string, config: Config): Promise<string> {
  const [address, token = ''] = link.split('t=');
  const key = new Uint8Array(hkdfSync('sha256', Buffer.from(config.secret, 'hex'), '', 'toolgate/session', 32));
  const sign = (text: string): string => createHmac('sha256', key).update(text).digest('base64url');

  const honest = await signSessionToken(config, { caller: 'c', session: 's', uid: 'u', expiresAt: 1_900_000_000_000 });
  const [head, body, signature] = honest.split('.');
  if (sign(`${head ?? ''}.${body ?? ''}`) !== signature) throw new Error('this no longer is how session tokens are signed');

  const [header, claims] = token.split('.');
  const text = `${encoded(decoded(header))}.${encoded({ ...decoded(claims), aud: 'session' })}`;
  return `${address ?? ''}t=${text}.${sign(text)}`;
}
