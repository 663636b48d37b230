/** The Worker that one-worker.ts started. */
import { inject } from 'vitest';
import { localMails } from '../../scripts/local-mails.ts';
import './one-worker.ts';
import { clientOf, type Client } from './client.ts';

export function sharedWorker(): Client {
  const { url, adminToken } = inject('worker');
  return clientOf({ url, adminToken, mails: () => localMails(url) });
}
