/**
 * Stands in for the base class of Durable Objects outside workerd: a deployment's tools import the gate, and Node runs them
 * too, for golden files and tests. package.json maps `#durable-object` to this file or to the platform's.
 */
export class DurableObject<Bindings = unknown> {
  protected readonly ctx: DurableObjectState;
  protected readonly env: Bindings;

  constructor(ctx: DurableObjectState, env: Bindings) {
    [this.ctx, this.env] = [ctx, env];
  }
}
