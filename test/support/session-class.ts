/** The gate's own class of the session object, whose methods tests watch; the deployment's class only extends it. */
import { Session } from '../../src/index.ts';

export type { Session };
export const sessionMethods = Object.getPrototypeOf(Session.prototype) as Session;
