/**
 * How a tool says that an output string was written by somebody else: the published schema carries it, and whoever passes
 * the output on cleans it by its kind (docs/specification.md#what-the-model-reads). A string that is not declared must be
 * ours: a closed set or a pattern.
 */
import * as z from 'zod';

/** `plain`: text as it stands, such as a memo. `markdown`, `html`: reduced to their text. */
export const outside = (kind: 'plain' | 'markdown' | 'html') => z.string().meta({ 'x-outside': kind });
