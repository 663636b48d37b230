/** Everything the operator may do. The credential is checked first. */
import { Hono } from 'hono';
import { adminApprovals } from './admin-approvals.ts';
import { adminAudit } from './admin-audit.ts';
import { adminCallers } from './admin-callers.ts';
import { adminEffects } from './admin-effects.ts';
import { adminLedger } from './admin-ledger.ts';
import { adminPauses } from './admin-pauses.ts';
import type { HttpEnv } from '../shared/context.ts';
import { operatorOnly } from '../shared/credentials.ts';

export const admin = new Hono<HttpEnv>()
  .use(operatorOnly)
  .route('/callers', adminCallers)
  .route('/approvals', adminApprovals)
  .route('/audit', adminAudit)
  .route('/ledger', adminLedger)
  .route('/effects', adminEffects)
  .route('/pauses', adminPauses);
