import { DurableObject } from 'cloudflare:workers'

export class Session extends DurableObject<Env> {
  ping(): string {
    return 'pong'
  }
}

export default {
  fetch(): Response {
    return new Response('Toolgate')
  },
} satisfies ExportedHandler<Env>
