/**
 * Removes URLs and e-mail addresses: a model that repeats one hands the customer a stranger's link, and fetching one
 * can leak data. A bare host name stays, because bank statements name merchants that way. Look-behinds start each match
 * at the start of a run of characters, so time is linear.
 */

/** The dots that browsers accept in a host name (UTS 46), and all characters of one. */
const DOT = '[.\u3002\uff0e\uff61]';
const HOST = String.raw`[\p{L}\p{M}\p{N}.\u3002\uff0e\uff61-]`;
const NEXT = String.raw`[^\s<>"]`;
const REST = String.raw`[^\s<>"]*`;

const ADDRESSES: readonly RegExp[] = [
  // Any scheme with an authority, also a malformed one: mail clients link `1http://` as `http://`.
  new RegExp(String.raw`(?<![a-z0-9+.-])[a-z0-9+.-]*://${REST}`, 'gi'),
  // Schemes that work without `//`. `data:` is also an ordinary word, so it needs a media type.
  new RegExp(String.raw`(?:https?|ftp|javascript|vbscript|mailto|file(?=:/)):${NEXT}${REST}`, 'gi'),
  new RegExp(String.raw`data:(?:[a-z]+/|[,;])${REST}`, 'gi'),
  new RegExp(String.raw`www\.${NEXT}${REST}`, 'gi'),
  // Without a scheme: `//host.tld`, `host.tld/path`, `host.tld:8443/path`, `host.tld?query`, `203.0.113.9/path`.
  new RegExp(String.raw`//[\p{L}\p{M}\p{N}-]+\.${NEXT}${REST}`, 'giu'),
  new RegExp(
    String.raw`(?<!${HOST})${HOST}*${DOT}(?:\p{L}{2,24}|xn--[a-z0-9-]{2,59})(?::\d{1,5})?[/?\\]${NEXT}${REST}`,
    'giu',
  ),
  new RegExp(String.raw`(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5})?/${NEXT}${REST}`, 'g'),
  // `name@host.tld`, and `@host.tld` after a quoted name; `2@3.50` is a price.
  new RegExp(
    String.raw`(?<![^\s<>"'(),:;@[\]{}])[^\s<>"'(),:;@[\]{}]*@(?!\d+\.\d+(?![\p{L}\p{M}\p{N}_.-]))[\p{L}\p{M}\p{N}_-]+\.[\p{L}\p{M}\p{N}]${REST}`,
    'giu',
  ),
];

/** Characters after an address that belong to the sentence around it. */
const CLOSERS = `.,;:!?)]}'`;

export const withoutAddresses = (text: string): string =>
  ADDRESSES.reduce((rest, address) => rest.replace(address, withoutAddress), text);

function withoutAddress(address: string): string {
  let end = address.length;
  while (end > 0 && CLOSERS.includes(address.charAt(end - 1))) end -= 1;
  return `[link]${address.slice(end)}`;
}
