/** What the document tools share. */
import * as z from 'zod';
import { DOCUMENT_STATUSES } from '../../gate/ports.ts';

export const DOCUMENT_STATUS = z.enum(DOCUMENT_STATUSES);
