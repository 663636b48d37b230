/**
 * URLs and e-mail addresses in plain text. A model that repeats one hands a stranger's link to the customer, and a link it
 * fetches carries out what it knows. A host name alone stays: it is how bank statements name merchants.
 *
 * Each expression that begins with a run of characters starts only where that run starts (the look-behind), so no run is
 * read twice and time is linear however the text is made.
 */

/** What browsers take for the dot of a host name (UTS 46), and all that stands in one. */
const DOT = '[.\u3002\uff0e\uff61]';
const HOST = String.raw`[\p{L}\p{M}\p{N}.\u3002\uff0e\uff61-]`;
const NEXT = String.raw`[^\s<>"]`;
const REST = String.raw`[^\s<>"]*`;

const ADDRESSES: readonly RegExp[] = [
  // Any scheme with an authority, and what only looks like one: `1http://` is clicked as `http://`.
  new RegExp(String.raw`(?<![a-z0-9+.-])[a-z0-9+.-]*://${REST}`, 'gi'),
  // Schemes that work without `//`. `data:` alone is an ordinary word; with a media type it is a document.
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

/** What ends a sentence or closes a bracket around an address rather than the address. */
const CLOSERS = `.,;:!?)]}'`;

export const withoutAddresses = (text: string): string =>
  ADDRESSES.reduce((rest, address) => rest.replace(address, withoutAddress), text);

function withoutAddress(address: string): string {
  let end = address.length;
  while (end > 0 && CLOSERS.includes(address.charAt(end - 1))) end -= 1;
  return `[link]${address.slice(end)}`;
}
