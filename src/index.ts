/** This deployment's Worker: the gate with the tools of `src/tools`. */
import { createToolgate } from './gate/index.ts';
import { tools } from './tools/index.ts';

const toolgate = createToolgate({ tools });

export class Session extends toolgate.Session {}

export default toolgate.handler;
