import { hashOf } from '../canonical.ts';

/** Names one attempt of an intent, in the ledger and in every other system: SHA-256 of `[call_key, attempt]`. */
export const effectKeyOf = ({ key, attempt }: { key: string; attempt: number }): string => hashOf([key, attempt]);
