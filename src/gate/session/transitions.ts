/** The states a record may change to (docs/specification.md#life-of-an-effect): read by the writes and by the simulation's checker. */
import type { RecordState } from '../ports.ts';

export const TRANSITIONS: Readonly<Record<RecordState | 'none', readonly RecordState[]>> = {
  none: ['pending', 'claimed'],
  pending: ['approved', 'rejected', 'expired', 'failed'],
  approved: ['executed', 'failed'],
  claimed: ['executed', 'failed'],
  executed: [],
  rejected: [],
  expired: [],
  failed: [],
};
