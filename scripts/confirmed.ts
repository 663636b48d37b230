/**
 * What a run of the verifier confirmed, kept for the next: lines of JSON, the last of which is the hash of all before it. The
 * hash finds a file that was cut or changed by accident. Keep the file where those who write to the databases cannot.
 */
import { createHash } from 'node:crypto';
import { renameSync, writeFileSync } from 'node:fs';
import * as z from 'zod';
import { lines } from './lines.ts';
import type { Confirmed } from './verify-chain.ts';

const FORMAT = 'toolgate-audit 1';
const DAY_MS = 24 * 60 * 60 * 1000;
/** A session is forgotten 30 days after its last link, which lives 30 days longer than an approval of at most 7. */
const OVER_MS = 70 * DAY_MS;

const text = z.string().nullable();
const header = z.object({ format: z.literal(FORMAT), url: z.string(), at: z.iso.datetime() });
const chain = z.object({
  uid: z.string(),
  caller_id: z.string(),
  session_id: z.string(),
  seq: z.int(),
  hash: text,
  at: text,
});
const effect = z.object({ uid: z.string(), seq: z.int(), key: text, attempt: z.int().nullable(), result_hash: text });
const decision = effect.extend({ approval_id: text, salt: text, approver_hash: text, shown_hash: text });
const line = z.union([
  z.object({ chain }).transform((read) => ({ decision: undefined, effect: undefined, ...read })),
  z.object({ effect }).transform((read) => ({ chain: undefined, decision: undefined, ...read })),
  z.object({ decision }).transform((read) => ({ chain: undefined, effect: undefined, ...read })),
]);
const last = z.object({ sha256: z.string() });

export type KeptRun = Confirmed & {
  /** When it began to read, ms since the epoch: later rows are read again. */
  at: number;
};

/** Reads what an earlier run kept of the Worker at `url`. Throws where the file is not whole, or of another Worker. */
export async function readConfirmed(file: string, url: string): Promise<KeptRun> {
  const hash = createHash('sha256');
  const kept = { chains: [], effects: [], decisions: [] } as {
    [Part in 'chains' | 'effects' | 'decisions']: Confirmed[Part][number][];
  };
  let [head, signed, number]: [z.output<typeof header> | null, string | null, number] = [null, null, 0];
  for await (const each of lines(file)) {
    number += 1;
    const value: unknown = parsed(each);
    const end = last.safeParse(value);
    if (signed !== null) throw new Error(`${file}: something was added behind its end`);
    if (end.success) signed = end.data.sha256;
    else hash.update(`${each}\n`);
    if (end.success) continue;
    if (number === 1) head = header.safeParse(value).data ?? null;
    if (head === null) throw new Error(`${file} was not written by audit:verify --since`);
    if (number === 1) continue;
    const read = line.safeParse(value).data;
    if (read?.chain !== undefined) kept.chains.push(read.chain);
    else if (read?.decision !== undefined) kept.decisions.push(read.decision);
    else if (read?.effect !== undefined) kept.effects.push(read.effect);
    else throw new Error(`${file}, line ${number}: cannot be read`);
  }
  if (head === null || signed !== hash.digest('hex')) throw new Error(`${file} is not whole, or was changed`);
  if (head.url !== url) throw new Error(`${file} is about ${head.url}`);
  const at = Date.parse(head.at);
  return { ...kept, at, openedBefore: openedBefore(kept.chains, at) };
}

/** Sessions that may still write were opened at that time or later. */
function openedBefore(chains: Confirmed['chains'], now: number): number {
  const opened = chains
    .filter(({ at }) => at === null || Date.parse(at) > now - OVER_MS)
    .map(({ uid }) => parseInt(uid.slice(0, 12), 16));
  return opened.reduce((least, each) => Math.min(least, each), now - OVER_MS);
}

/** Writes the file at once: a run that dies leaves the one before. */
export function writeConfirmed(
  file: string,
  url: string,
  at: number,
  confirmed: Omit<Confirmed, 'openedBefore'>,
): void {
  const { chains, effects, decisions } = confirmed;
  const values = [
    { format: FORMAT, url, at: new Date(at).toISOString() },
    ...chains.map((each) => ({ chain: chain.parse(each) })),
    ...effects.map((each) => ({ effect: effect.parse(each) })),
    ...decisions.map((each) => ({ decision: decision.parse(each) })),
  ];
  const body = values.map((value) => `${JSON.stringify(value)}\n`).join('');
  const sha256 = createHash('sha256').update(body).digest('hex');
  writeFileSync(`${file}.new`, `${body}${JSON.stringify({ sha256 })}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
