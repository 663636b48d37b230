/** For tools that declare no other system: reaching one is a fault of the test. */
import type { Backends } from '../../src/gate/ports.ts';

const unreached = (): never => {
  throw new Error('the tool reached for another system');
};

export const noBackends: Backends = { place: unreached, api: unreached, send: unreached };
