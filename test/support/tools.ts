/** This deployment's tools as tests name them, and the Worker's app over them. */
import { createApp } from '../../src/gate/app.ts';
import { GET_APPROVAL } from '../../src/gate/tool/get-approval.ts';
import { registryOf } from '../../src/gate/tool/registry.ts';
import { tools } from '../../src/tools/index.ts';

export const registry = registryOf(tools);
/** Without the gate's own. */
export const allTools = registry.tools.filter(({ name }) => name !== GET_APPROVAL);
export const toolNamed = registry.get;
export const app = createApp(registry);
