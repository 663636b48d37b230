import { app } from './app.ts';

export { Session } from './session/session.ts';

export default {
  fetch: app.fetch,
} satisfies ExportedHandler<Env>;
