/**
 * Reads variables and secrets into Config. A weak secret or a wrong host for links is worse than a gate that does not
 * start, so an absent, short or malformed value counts as missing, and there are no defaults.
 */
import * as z from 'zod';
import { hex } from './canonical.ts';

const MIN_SECRET_BYTES = 32;

export interface Config {
  /** Compared as written, never decoded. */
  readonly adminToken: string;
  /** The bytes of TOOLGATE_SECRET in lower-case hex, even if written in base64. */
  readonly secret: string;
  /** Likewise. It only verifies tokens from before a rotation. */
  readonly previousSecret: string | null;
  /** An origin as browsers write it, without a path or trailing slash. */
  readonly publicUrl: string;
  /** Whether `publicUrl` is this machine; only then may the console show links. */
  readonly loopback: boolean;
  readonly mailFrom: string;
}

/** `flaws` are for the log and hold no values. `publicUrl` is null if it is missing or malformed. */
export type ConfigReading =
  | { readonly ok: true; readonly config: Config }
  | { readonly ok: false; readonly flaws: readonly string[]; readonly publicUrl: string | null };

const NO_SECRET = `missing or not at least ${MIN_SECRET_BYTES} bytes in hex or base64, as openssl rand -hex ${MIN_SECRET_BYTES} makes them`;
const NO_ORIGIN = 'missing or not an https origin without a path';

const Secret = z.string(NO_SECRET).transform((text, context) => {
  const digits = secretAsHex(text);
  if (digits !== null && digits.length >= 2 * MIN_SECRET_BYTES) return digits;
  context.addIssue(NO_SECRET);
  return z.NEVER;
});

const Origin = z.string(NO_ORIGIN).transform((text, context) => {
  const url = URL.canParse(text) ? new URL(text) : null;
  // Only a bare origin equals its href without the final slash: user, path, query and fragment would show.
  const bare = url !== null && url.href === `${url.origin}/`;
  if (bare && (url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname)))) {
    return { publicUrl: url.origin, loopback: isLoopback(url.hostname) };
  }
  context.addIssue(NO_ORIGIN);
  return z.NEVER;
});

const Variables = z.object({
  ADMIN_TOKEN: z.string(NO_SECRET).refine((text) => Secret.safeParse(text).success, NO_SECRET),
  TOOLGATE_SECRET: Secret,
  // An empty value counts as absent: it is a line kept for the next rotation.
  TOOLGATE_SECRET_PREVIOUS: z.preprocess((text) => (text === '' ? undefined : text), Secret.optional()),
  PUBLIC_URL: Origin,
  MAIL_FROM: z.email('missing or not an e-mail address'),
});

/** Reads the Worker's environment; ignores bindings and other members. */
export function readConfig(env: unknown): ConfigReading {
  const reading = Variables.safeParse(env);
  if (!reading.success) {
    const flaws = reading.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
    const published = Variables.pick({ PUBLIC_URL: true }).safeParse(env).data;
    return { ok: false, flaws, publicUrl: published?.PUBLIC_URL.publicUrl ?? null };
  }
  const { ADMIN_TOKEN, TOOLGATE_SECRET, TOOLGATE_SECRET_PREVIOUS, PUBLIC_URL, MAIL_FROM } = reading.data;
  return {
    ok: true,
    config: {
      adminToken: ADMIN_TOKEN,
      secret: TOOLGATE_SECRET,
      previousSecret: TOOLGATE_SECRET_PREVIOUS ?? null,
      ...PUBLIC_URL,
      mailFrom: MAIL_FROM,
    },
  };
}

/**
 * The bytes of a secret, or null. Text of only hex digits is hex; otherwise 60 of them (30 bytes) would pass as 45
 * bytes of base64. base64url is refused, because passphrases with hyphens would pass as random bytes.
 */
function secretAsHex(text: string): string | null {
  if (/^[\da-f]+$/i.test(text)) return text.length % 2 === 0 ? text.toLowerCase() : null;
  if (!z.base64().safeParse(text).success) return null;
  return hex(Uint8Array.from(atob(text), (byte) => byte.charCodeAt(0)));
}

/** Takes a host name from the URL parser, which writes `127.1` as `127.0.0.1`. */
function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(hostname);
}
