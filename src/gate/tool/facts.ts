/** The facts an approver is shown, and how it is known that they are still the same. */
import { hashOf } from '../canonical.ts';
import type { Fact } from './define-tool.ts';

/** 64 bits tell one value of a fact from another; they guard a form against time, not against its own sender. */
const DIGEST_DIGITS = 16;

export const digestOf = ({ label, value }: Fact): string => hashOf([label, value]).slice(0, DIGEST_DIGITS);

/** Digests of all facts shown, as the page's form sends them back and the record keeps them. */
export const digestsOf = (facts: readonly Fact[]): string => facts.map(digestOf).join('.');
