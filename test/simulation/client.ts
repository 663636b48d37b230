/** A host with its agent: proposes calls one after another, retries what got lost, polls, rejoins, ends. */
import { propose } from '../../src/gate/http/agent/send-call.ts';
import type { CallRequest } from '../../src/gate/session/rpc.ts';
import { sessionObjectName } from '../../src/gate/auth/tokens.ts';
import { claimsIn } from './forged-link.ts';
import type { Model } from './model.ts';
import { Random } from './random.ts';
import type { Client, Own, Refunding, Step } from './scenario.ts';
import type { Stage } from './stage.ts';

export type Place = {
  caller_id: string;
  api_key: string;
  key_hash: string;
  session_id: string;
  customer_id: string | null;
  requested_by: string | null;
  own: Own;
  ttl_seconds: number;
};

type Told = { code: string; approval: string | null } | null;

export class SimulatedClient {
  readonly #client: Client;
  readonly #place: Place;
  readonly #stage: Stage;
  readonly #model: Model;
  readonly #orders: string[];
  readonly #random: Random;
  #uid: string | null = null;
  #token: string | null = null;
  /** Ms since the epoch. Without HTTP this stands for the check of the token, which the Worker does. */
  #expiresAt = 0;
  #approval: string | null = null;
  #last: { id: string; step: Extract<Step, { do: 'refund' }> } | null = null;
  #calls = 0;

  constructor(client: Client, place: Place, orders: string[], stage: Stage, model: Model) {
    [this.#client, this.#place, this.#stage, this.#model, this.#orders] = [client, place, stage, model, orders];
    this.#random = new Random(`${client.name} ${stage.seed}`);
  }

  async run(): Promise<void> {
    await this.#stage.time.sleep(this.#client.startMs);
    await this.#open({}, true);
    for (const step of this.#client.steps) {
      await this.#stage.time.sleep(step.pauseMs);
      await this.#take(step);
    }
  }

  get #object(): string {
    return sessionObjectName(this.#place.caller_id, this.#place.session_id);
  }

  async #take(step: Step): Promise<void> {
    if (this.#uid === null && step.do !== 'end') await this.#open({}, false);
    if (this.#uid === null) return;
    switch (step.do) {
      case 'refund':
        return this.#refund(step);
      case 'read':
        return void (await this.#call('get_order', { order_id: this.#orders[step.order] ?? '' }, this.#newId()));
      case 'nonsense':
        return void (await this.#call(
          this.#random.pick(['refund_order', 'delete_order', 'constructor']),
          this.#random.pick([{}, '{', '[]', 7]),
          this.#newId(),
        ));
      case 'poll':
        return this.#poll(step.waitSeconds);
      case 'rejoin':
        return this.#open(step.own, false);
      case 'end':
        return this.#end();
    }
  }

  async #refund(step: Extract<Step, { do: 'refund' }>): Promise<void> {
    // "again": a host that sends its last id once more, with the same call or, by a mistake, with another.
    const id = step.id === 'again' && this.#last !== null ? this.#last.id : step.id === 'none' ? null : this.#newId();
    if (id !== null) this.#last = { id, step };
    for (let retry = 0; ; retry += 1) {
      const order = this.#orders[step.refund.order] ?? 'ORD-9999';
      const tool = this.#model.orders.get(order)?.tool ?? 'refund_order';
      const told = await this.#call(tool, this.#arguments(step.refund), id);
      if (told !== null) this.#approval = told.approval ?? this.#approval;
      const isOpen = told === null || told.code === 'UPSTREAM_UNAVAILABLE';
      if (!isOpen || retry >= step.retries) return;
      await this.#stage.time.sleep(this.#random.skewed(100, 40_000));
    }
  }

  #arguments({ order, ...rest }: Refunding): Record<string, unknown> {
    return { order_id: this.#orders[order] ?? 'ORD-9999', ...rest };
  }

  #newId = (): string => `${this.#client.name}-${(this.#calls += 1)}`;

  async #call(tool: string, args: unknown, id: string | null): Promise<Told> {
    const uid = this.#uid;
    if (uid === null) return null;
    const answered = this.#model.asks(`${this.#client.name} calls ${tool}`);
    this.#stage.note(`${this.#client.name}: ${tool} ${JSON.stringify(args)} as ${id ?? 'no id'}`);
    const told = this.#stage.http
      ? await this.#callByHttp(tool, args, id)
      : await this.#callDirectly(uid, tool, args, id);
    answered();
    this.#stage.note(`${this.#client.name}: told ${told?.code ?? 'nothing'}`);
    return told;
  }

  async #callDirectly(uid: string, tool: string, args: unknown, id: string | null): Promise<Told> {
    if (this.#stage.time.wall() >= this.#expiresAt)
      return ((this.#uid = null), { code: 'unauthorized', approval: null });
    const call: Omit<CallRequest, 'call_id'> = { uid, tool, arguments: args, request_id: 'simulated' };
    const stub = () => this.#stage.session(this.#object);
    const proposed = await propose(stub, { ...call, ...(id === null ? {} : { call_id: id }) });
    if ('refused' in proposed) {
      if (proposed.refused === 'unauthorized') this.#uid = null;
      return { code: proposed.refused, approval: null };
    }
    return { code: proposed.outcome.code, approval: proposed.outcome.approval?.id ?? null };
  }

  async #callByHttp(tool: string, args: unknown, id: string | null): Promise<Told> {
    const body = { tool, arguments: args, ...(id === null ? {} : { call_id: id }) };
    const answer = await this.#fetch('POST', '/v1/calls', this.#token, body);
    if (answer.status === 401) this.#uid = null;
    if (answer.status !== 200) return { code: String(answer.status), approval: null };
    const outcome = answer.body as { code: string; approval?: { id: string } };
    return { code: outcome.code, approval: outcome.approval?.id ?? null };
  }

  async #open(own: Own, first: boolean): Promise<void> {
    const { caller_id, session_id, customer_id, requested_by, ttl_seconds } = this.#place;
    const fields = {
      session_id,
      ttl_seconds,
      ...(customer_id === null ? {} : { customer_id }),
      ...(requested_by === null ? {} : { requested_by }),
      ...(first ? this.#place.own : own),
    };
    const answered = this.#model.asks(`${this.#client.name} opens`);
    if (this.#stage.http) {
      const { status, body } = await this.#fetch('POST', '/v1/sessions', this.#place.api_key, fields);
      this.#token = status === 201 || status === 200 ? String(body['token']) : this.#token;
      if (this.#token !== null) this.#uid = uidIn(this.#token);
    } else {
      const stub = this.#stage.session(this.#object);
      const answer = await stub.open({ ...fields, caller_id, key_hash: this.#place.key_hash }).catch(() => null);
      if (answer !== null && 'opened' in answer) [this.#uid, this.#expiresAt] = [answer.uid, answer.expires_at];
    }
    answered();
    this.#stage.note(`${this.#client.name}: opens ${this.#uid === null ? 'in vain' : `as ${this.#uid.slice(0, 18)}`}`);
  }

  async #poll(waitSeconds: number): Promise<void> {
    const [id, uid] = [this.#approval, this.#uid];
    if (id === null || uid === null) return;
    const answered = this.#model.asks(`${this.#client.name} polls`);
    if (this.#stage.http) await this.#fetch('GET', `/v1/approvals/${id}?wait=${waitSeconds}`, this.#token);
    else if (this.#stage.time.wall() < this.#expiresAt) {
      const stub = this.#stage.session(this.#object);
      await stub.approval(uid, id, waitSeconds).catch(() => undefined);
    }
    answered();
  }

  async #end(): Promise<void> {
    const answered = this.#model.asks(`${this.#client.name} ends`);
    for (const session of this.#model.sessions.values())
      if (session.object.name === this.#object) session.endAsked = true;
    this.#stage.note(`${this.#client.name}: ends its session`);
    if (this.#stage.http) await this.#fetch('DELETE', `/v1/sessions/${this.#place.session_id}`, this.#place.api_key);
    else {
      const stub = this.#stage.session(this.#object);
      await stub.end(null).catch(() => undefined);
    }
    answered();
  }

  async #fetch(
    method: string,
    path: string,
    credential: string | null,
    body?: object,
  ): Promise<{ status: number; body: Record<string, unknown> }> {
    const response = await this.#stage.fetch(path, {
      method,
      headers: {
        authorization: `Bearer ${credential ?? ''}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (response.status >= 500 && response.status !== 503)
      this.#model.fail('server-error', `${method} ${path}: ${response.status}`);
    return { status: response.status, body: JSON.parse(text === '' ? '{}' : text) as Record<string, unknown> };
  }
}

/** The uid that a token names; its holder could read it too. */
const uidIn = (token: string): string => (claimsIn(token) as { uid: string }).uid;
