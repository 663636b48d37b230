import { DurableObject } from 'cloudflare:workers';
import { app } from './app.ts';

export class Session extends DurableObject<Env> {
  ping(): string {
    return 'pong';
  }
}

export default {
  fetch: app.fetch,
} satisfies ExportedHandler<Env>;
