/** What the document tools share. */
import * as z from 'zod';

export const DOCUMENT_STATUS = z.enum(['current', 'superseded']);
