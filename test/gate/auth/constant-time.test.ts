/** Secrets are compared by the platform's constant-time function and by nothing else, whatever is presented. */
import type * as nodeCrypto from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';

const compared = vi.fn<(a: Uint8Array, b: Uint8Array) => void>();

/** Loaded after the function was replaced; modules of other files hold the real one. */
async function load() {
  return {
    keys: await import('../../../src/gate/auth/api-key.ts'),
    tokens: await import('../../../src/gate/auth/tokens.ts'),
    tools: await import('../../support/tools.ts'),
    support: await import('../../support/node-session.ts'),
    app: await import('../../support/approver-app.ts'),
  };
}
let modules: Awaited<ReturnType<typeof load>>;

beforeAll(async () => {
  vi.resetModules();
  vi.doMock('node:crypto', async (original) => {
    const real = await original<typeof nodeCrypto>();
    const timingSafeEqual: typeof real.timingSafeEqual = (a, b) => {
      compared(new Uint8Array(a.buffer), new Uint8Array(b.buffer));
      return real.timingSafeEqual(a, b);
    };
    return { ...real, timingSafeEqual };
  });
  modules = await load();
});
afterAll(() => {
  vi.doUnmock('node:crypto');
  vi.resetModules();
});

/** The lengths of all pairs that were compared in constant time while `run` ran. */
async function comparedIn<Answer>(run: () => Answer | Promise<Answer>): Promise<{ answer: Answer; pairs: number[][] }> {
  compared.mockClear();
  const answer = await run();
  return { answer, pairs: compared.mock.calls.map(([a, b]) => [a.length, b.length]) };
}

/** One that is right, and wrong ones of every length and with every number of right characters at the start. */
function guessesAt(secret: string): string[] {
  const others = [...secret].map((_, right) => secret.slice(0, right) + (secret.charAt(right) === 'f' ? 'e' : 'f'));
  return [secret, '', `${secret}f`, ...others, ...others.map((start) => start.padEnd(secret.length, '0'))];
}

describe('sameHash', () => {
  it('compares hashes of the length of a hash in constant time, once, and nothing else', async () => {
    const hash = 'a1'.repeat(32);
    for (const guess of guessesAt(hash).filter(({ length }) => length === hash.length)) {
      const { answer, pairs } = await comparedIn(() => modules.keys.sameHash(guess, hash));
      expect({ guess, answer, pairs }).toEqual({ guess, answer: guess === hash, pairs: [[64, 64]] });
    }
  });
});

describe('isAdminToken', () => {
  it('compares digests in constant time, whatever is presented', async () => {
    const adminToken = 'a1'.repeat(32);
    for (const guess of guessesAt(adminToken)) {
      const { answer, pairs } = await comparedIn(() => modules.keys.isAdminToken(guess, { adminToken }));
      expect({ guess, answer, pairs }).toEqual({ guess, answer: guess === adminToken, pairs: [[64, 64]] });
    }
  });
});

describe("a link's bits", () => {
  /** A refund that waits for its one approver, and the way to look at it with the bits of a link. */
  async function parkedRefund() {
    const { support, tools } = modules;
    const { session, uid, shared } = await support.nodeSession(tools.allTools, {
      confirm_above_cents: 0,
    });
    shared.exec(
      "INSERT INTO orders (order_id, customer_id, total_cents, currency) VALUES ('ORD-1001', 'CUS-1', 90, 'BRL')",
    );
    const args = { order_id: 'ORD-1001', amount_cents: 10, currency: 'BRL', reason: 'damaged' };
    const answer = await session.call({ uid, tool: 'refund_order', arguments: args, call_id: 'c', request_id: 'r' });
    const approval_id = ('outcome' in answer ? answer.outcome.approval?.id : undefined) ?? '';
    return async (bits: string) => 'view' in (await session.view({ approval_id, approver: 0, bits }));
  }

  /** That session's randomness counts, so its bits are among the first numbers. */
  async function bitsThatOpen(opens: (bits: string) => Promise<boolean>): Promise<string> {
    for (let number = 0; number < 100; number += 1) {
      const bits = number.toString(16).padStart(32, '0');
      if (await opens(bits)) return bits;
    }
    throw new Error('no link opens');
  }

  it('are compared in constant time with what the object keeps, once for each look', async () => {
    const opens = await parkedRefund();
    const bits = await bitsThatOpen(opens);
    for (const guess of guessesAt(bits).filter(({ length }) => length === bits.length)) {
      const { answer, pairs } = await comparedIn(() => opens(guess));
      expect({ guess, answer, pairs }).toEqual({ guess, answer: guess === bits, pairs: [[32, 32]] });
    }
  });
});

describe('a signature', () => {
  it('is verified by the platform, once for each token that is shaped like one', async () => {
    const verify = vi.spyOn(crypto.subtle, 'verify');
    const good = await modules.app.approvalToken();
    for (const at of [good.length - 43, good.length - 20, good.length - 2]) {
      const other = good.charAt(at) === 'A' ? 'B' : 'A';
      const guess = good.slice(0, at) + other + good.slice(at + 1);
      verify.mockClear();
      expect(await modules.tokens.verifyApprovalToken(modules.app.configOf(), guess, Date.now())).toBeNull();
      expect(verify).toHaveBeenCalledTimes(1);
    }
    verify.mockRestore();
  });
});
