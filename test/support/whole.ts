/**
 * `npm test` runs a chosen sample of the tests that take minutes; `npm run test:whole` runs them whole. vitest.config.ts finds
 * the files that import this.
 */
import { inject } from 'vitest';

declare module 'vitest' {
  interface ProvidedContext {
    isWhole: boolean;
  }
}

export const isWhole = inject('isWhole');
