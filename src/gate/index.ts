/** What a deployment and its tools build on. Everything else under src/gate is the gate's own. */
export { defineBackend } from './backends/backend.ts';
export { formatMoney } from './money/money.ts';
export type { JsonObject, JsonValue } from './json.ts';
export {
  UpstreamError,
  type Answer,
  type Api,
  type Backend,
  type Kit,
  type LedgerSql,
  type Money,
  type Port,
} from './ports.ts';
export { defineTool, type CallContext, type Fact, type Tool } from './tool/define-tool.ts';
export { outside } from './observation/observe.ts';
export { createToolgate } from './worker.ts';
