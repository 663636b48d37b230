/** People who get the mails: they look, think, decide once or twice, late or on an old page, or not at all. */
import type { ApprovalClaims } from '../../src/gate/auth/tokens.ts';
import type { DecisionAnswer, LinkProof, SessionRpc, ViewAnswer } from '../../src/gate/session/rpc.ts';
import { digestsOf } from '../../src/gate/tool/facts.ts';
import type { Letter } from './mail.ts';
import type { Model } from './model.ts';
import { Random } from './random.ts';
import { PUBLIC_URL } from './deployment.ts';
import { claimsIn, forgedLink } from './forged-link.ts';
import type { Stage } from './stage.ts';

/** `refunded`: what the page shows as refunded so far, as it is written. */
type Page = { status: string; phrase: string; refunded: string | null; shown: string };

export class Approvers {
  readonly #stage: () => Stage;
  readonly #model: Model;
  readonly #letters = new Map<string, number>();

  constructor(stage: () => Stage, model: Model) {
    [this.#stage, this.#model] = [stage, model];
  }

  readonly arrived = ({ to, link }: Letter): void => {
    if (link === null) return;
    this.#model.mailed(approvalIn(link), to);
    const number = (this.#letters.get(to) ?? 0) + 1;
    this.#letters.set(to, number);
    const random = new Random(`${to} ${number} ${this.#stage().seed}`);
    // One person may have the page open in two places.
    const visits = random.chance(0.25) ? 2 : 1;
    for (let visit = 0; visit < visits; visit += 1) void this.#visit(to, link, random);
  };

  async #visit(to: string, link: string, random: Random): Promise<void> {
    const { time, note } = this.#stage();
    await time.sleep(random.chance(0.6) ? random.skewed(200, 20_000) : random.skewed(1_000, 900_000));
    const page = await this.#look(link);
    if (this.#stage().http && page !== null && random.chance(0.3)) await this.#forge(link);
    if (random.chance(0.15) || page === null) return;
    await time.sleep(random.chance(0.8) ? random.skewed(500, 30_000) : random.skewed(10_000, 600_000));
    const approves = random.chance(0.75);
    const phrase = random.chance(0.92) ? page.phrase : '0';
    const id = approvalIn(link);
    if (phrase === page.phrase) {
      const { approves: given } = this.#model.approval(id);
      if (approves) given.push({ email: to, at: time.elapsed, refunded: page.refunded });
      else this.#model.approval(id).rejects += 1;
    }
    note(`${to}: ${approves ? 'approves' : 'rejects'} ${id}`);
    const done = this.#model.asks(`${to} decides`);
    const told = await this.#decide(link, {
      decision: approves ? 'approve' : 'reject',
      phrase,
      shown: page.shown,
    });
    done();
    note(`${to}: told ${told}`);
  }

  async #forge(link: string): Promise<void> {
    const forged = await forgedLink(link, this.#stage().config);
    if ((await this.#lookByHttp(forged)) !== null)
      this.#model.fail('foreign-audience', 'a link signed as a session token opens the page');
  }

  async #look(link: string): Promise<Page | null> {
    const { http } = this.#stage();
    const done = this.#model.asks('an approver looks');
    const page = http ? await this.#lookByHttp(link) : await this.#lookDirectly(link);
    done();
    return page;
  }

  async #lookDirectly(link: string): Promise<Page | null> {
    const [stub, proof] = this.#linked(link);
    const answer: ViewAnswer | null = await stub.view(proof).catch(() => null);
    if (answer === null || 'refused' in answer) return null;
    const { status, phrase, facts } = answer.view;
    const refunded = facts?.find(({ label }) => label === 'Refunded so far')?.value ?? null;
    return { status, phrase, refunded, shown: digestsOf(facts ?? []) };
  }

  async #lookByHttp(link: string): Promise<Page | null> {
    const response = await this.#stage().fetch(link.slice(PUBLIC_URL.length), { method: 'GET' });
    const text = await response.text();
    const shown = /name="shown" value="([^"]*)"/.exec(text)?.[1];
    const refunded = /Refunded so far<\/dt><dd[^>]*>(?:<[^>]+>)*([^<]+)</.exec(text)?.[1] ?? null;
    const phrase = /The amount asked for is (?:<[^>]+>)*([\d.]+)/.exec(text)?.[1];
    if (response.status !== 200 || shown === undefined || phrase === undefined) return null;
    return { status: 'pending', phrase, refunded, shown };
  }

  async #decide(
    link: string,
    form: { decision: 'approve' | 'reject'; phrase: string; shown: string },
  ): Promise<string> {
    if (this.#stage().http) {
      const body = new URLSearchParams({ ...form, note: '' }).toString();
      const headers = { origin: PUBLIC_URL, 'content-type': 'application/x-www-form-urlencoded' };
      const response = await this.#stage().fetch(link.slice(PUBLIC_URL.length), { method: 'POST', headers, body });
      await response.text();
      return String(response.status);
    }
    const [stub, proof] = this.#linked(link);
    const answer: DecisionAnswer | null = await stub
      .decide({ ...proof, ...form, note: null, request_id: 'simulated' })
      .catch(() => null);
    return answer === null ? 'nothing' : 'decided' in answer ? answer.decided : answer.refused;
  }

  #linked(link: string): [SessionRpc, LinkProof] {
    const { object, approver, bits } = claimsIn(link.split('t=')[1]) as Pick<
      ApprovalClaims,
      'object' | 'approver' | 'bits'
    >;
    const stub = this.#stage().session(object);
    return [stub, { approval_id: approvalIn(link), approver, bits }];
  }
}

const approvalIn = (link: string): string => /\/approvals\/([^?]+)/.exec(link)?.[1] ?? '';
