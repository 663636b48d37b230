/** The base class of Durable Objects, in workerd. */
export { DurableObject } from 'cloudflare:workers';
