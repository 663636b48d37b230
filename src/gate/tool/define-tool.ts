/**
 * Turns one tool's declaration into a plain `Tool`: schemas, contract version and handlers closed over their own types,
 * so that registry and stages need no generics. Illegal declarations are refused when the module loads.
 */
import * as z from 'zod';
import { hashOf } from '../canonical.ts';
import type { JsonObject } from '../json.ts';
import type { Problem, ToolRefusal } from '../outcome.ts';
import type { Api, Attempt, Backend, Kit, LedgerRow, Money, Port } from '../ports.ts';
import { ledgerBackend, sendAttempt, type Judgement } from '../ledger/attempts.ts';
import { contractOf, externalRecipe, type ExternalDeclaration, type ExternalRecipe } from './external.ts';
import { problemsOf } from './problems.ts';

/** What every handler may know of the call: whose data exists, and when to give up. */
export type CallContext = { customer_id: string | null; signal: AbortSignal };

/** The answer of a read, or one of the tool's own codes with the facts its message names. */
export type Ran = { ok: true; data: JsonObject } | { ok: false; code: string; facts: JsonObject };
/** The answer of a check: what was seen, or one of the tool's own codes. */
export type Checked =
  | { ok: true; seen: JsonObject }
  | { ok: false; code: string; facts: JsonObject; seen?: JsonObject };

/**
 * One fact of the system of record, as approvers read it on the page and in the mail. `outside`: somebody else worded the
 * value, so it is cleaned, cut, and left out of the mail, where clients make links of words.
 */
export type Fact = { label: string; value: string; outside?: true };

/** Valid arguments of a read tool. `input` has defaults filled in; the call key is made of it. */
export interface BoundRead {
  readonly effect: 'none';
  readonly input: JsonObject;
  run(kit: Kit, context: CallContext): Promise<Ran>;
}

interface EffectBase {
  readonly effect: 'keyed';
  readonly input: JsonObject;
  /** Whose record of effects its attempts are of: `ledger:` and the name of the tool's books, or the name of a backend. */
  readonly backend: string;
  readonly money: Money | null;
  /** What the call concerns, such as an order; approvals of one subject are shown together. */
  subject(seen: JsonObject): string | null;
  check(kit: Kit, context: CallContext): Promise<Checked>;
  /** What an approver is shown of what the check saw. */
  facts(seen: JsonObject): Fact[];
}
interface BoundLedgerEffect extends EffectBase {
  readonly external: null;
  /** Sends the attempt and answers with the ledger's row; null: it waits under a pause. Safe to repeat. */
  send(kit: Kit, attempt: Attempt, context: CallContext): Promise<LedgerRow | null>;
}
interface BoundExternalEffect extends EffectBase {
  readonly external: ExternalRecipe;
}
/** Valid arguments of a tool with an effect: in the ledger, or in another system. */
export type BoundEffect = BoundLedgerEffect | BoundExternalEffect;

export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly effect: 'none' | 'keyed';
  readonly risky: boolean;
  /** Version of the published contract: a hash of all that callers rely on. */
  readonly contract: string;
  /** Limit of one try in milliseconds. */
  readonly timeoutMs: number;
  readonly deprecatedBy: string | undefined;
  readonly codes: readonly string[];
  readonly inputSchema: JsonObject;
  readonly outputSchema: JsonObject;
  /** Arguments as the documents show them. */
  readonly example: JsonObject | null;
  /** How an effect in another system is sent and found again, also for arguments of an earlier schema. */
  readonly external: ExternalRecipe | null;
  bind(args: JsonObject): { ok: true; bound: BoundRead | BoundEffect } | { ok: false; problems: Problem[] };
  /** What a code of its own tells the model. */
  refusal(code: string, facts: JsonObject): ToolRefusal;
  /** The dotted path of the first field that does not fit the output schema, or null. A drifted back end must not leak. */
  misfit(data: JsonObject): string | null;
}

type ObjectSchema = z.ZodObject<z.ZodRawShape, z.core.$strict>;
type Ports = { readonly [name: string]: Port<unknown> };
type NoPorts = Record<string, never>;
/** The ports as handlers get them: opened. */
type Opened<Declared extends Ports> = {
  [Name in keyof Declared]: Declared[Name] extends Port<infer Api> ? Api : never;
};
type Wording = (facts: JsonObject) => string | ToolRefusal;
type Refused<Code extends string> = { ok: false; code: Code; facts: JsonObject };

type Shared<Input extends ObjectSchema, Output extends ObjectSchema, Code extends string, Reads extends Ports> = {
  name: string;
  /** What it does, when to use it, in which units. */
  description: string;
  input: Input;
  output: Output;
  /** Arguments that the documents show. No part of the contract. */
  example?: z.input<Input>;
  /**
   * The tool's own codes in the order they are judged, each with the sentence it tells the model. A sentence alone asks the
   * model to correct the call and try again; where that cannot help, `next` is `stop_and_tell_user`.
   */
  codes: Record<Code, Wording>;
  /** The only back ends its handlers can reach. */
  reads?: Reads;
  timeoutMs?: number;
  deprecatedBy?: string;
};

/** What its backend adds to the ports of a tool's handlers. */
type ApiOf<Declared extends Backend | undefined> = Declared extends Backend ? { api: Api } : unknown;

type ReadTool<
  Input extends ObjectSchema,
  Output extends ObjectSchema,
  Code extends string,
  Reads extends Ports,
  Declared extends Backend | undefined,
> = Shared<Input, Output, Code, Reads> & {
  effect: 'none';
  risky: false;
  /** The other system that `api` reaches, with GET requests. */
  backend?: Declared;
  run(
    input: z.output<Input>,
    ports: Opened<Reads> & ApiOf<Declared>,
    context: CallContext,
  ): Promise<{ ok: true; data: z.output<Output> } | Refused<Code>>;
};

type EffectTool<
  Input extends ObjectSchema,
  Output extends ObjectSchema,
  Code extends string,
  Reads extends Ports,
  Seen extends JsonObject,
  Declared extends Backend | undefined,
> = Shared<Input, Output, Code, Reads> & {
  risky: boolean;
  /**
   * Business rules, judged before the effect and again when a person approves it. `api` reaches the backend of the effect,
   * with GET requests.
   */
  check(
    input: z.output<Input>,
    ports: Opened<Reads> & ApiOf<Declared>,
    context: CallContext,
  ): Promise<{ ok: true; seen: Seen } | (Refused<Code> & { seen?: Seen })>;
  /** What approvers are shown of what the check saw; nothing, where it is absent. */
  facts?(seen: Seen): Fact[];
  /** Who keeps the record of the effect, and how it is sent. */
  effect:
    | LedgerEffect<z.output<Input>>
    | (ExternalDeclaration<z.output<Input>, Seen, z.output<Output>, Code> & { backend: Declared });
};

/**
 * An effect whose system of record is the ledger, the gate's own D1 database: it is done when its row stands there.
 * `ledger` names the tool's books: totals are kept for each subject of `ledger:<name>`. `send` judges the attempt in the
 * transaction that writes it. A trigger of the tool on `attempts` may change further tables in the same transaction.
 */
type LedgerEffect<Input> = {
  ledger: string;
  backend?: undefined;
  money?(input: Input): Money;
  subject?(input: Input): string;
  send(input: Input, context: CallContext): Judgement;
};

const DEFAULT_TIMEOUT_MS = 2_000;
/** Longer names are truncated in outcomes and could no longer be looked up (docs/specification.md#one-call). */
const NAME = /^[a-z][a-z0-9_]{0,39}$/;

/** Refuses a name that stage 1 could never find, and a deprecated tool whose description does not say so. */
export function defineTool<
  Input extends ObjectSchema,
  Output extends ObjectSchema,
  Code extends string,
  Reads extends Ports = NoPorts,
  Seen extends JsonObject = JsonObject,
  Declared extends Backend | undefined = undefined,
>(
  declared: ReadTool<Input, Output, Code, Reads, Declared> | EffectTool<Input, Output, Code, Reads, Seen, Declared>,
): Tool {
  const { name, description, risky, input, output, codes, deprecatedBy } = declared;
  if (!NAME.test(name)) throw new Error(`the tool name ${JSON.stringify(name)} must match ${NAME.source}`);
  if (deprecatedBy !== undefined && !description.endsWith(`Deprecated: use ${deprecatedBy}.`))
    throw new Error(`the description of ${name} must end "Deprecated: use ${deprecatedBy}."`);

  const misfit = declared.example && input.safeParse(declared.example).error?.issues[0];
  if (misfit !== undefined)
    throw new Error(`the example of ${name} does not fit its input at ${misfit.path.join('.')}`);

  const effect = declared.effect === 'none' ? 'none' : 'keyed';
  const inputSchema = jsonSchemaOf(input, 'input');
  const outputSchema = jsonSchemaOf(output, 'output');
  const wordings = new Map<string, Wording>(Object.entries<Wording>(codes));
  const misfitOf = (data: JsonObject): string | null => output.safeParse(data).error?.issues[0]?.path.join('.') ?? null;
  const elsewhere = declared.effect === 'none' || declared.effect.ledger !== undefined ? null : declared.effect;
  const external = elsewhere && externalRecipe(elsewhere, misfitOf);

  return {
    name,
    description,
    effect,
    risky,
    timeoutMs: declared.timeoutMs ?? DEFAULT_TIMEOUT_MS,
    deprecatedBy,
    codes: [...wordings.keys()],
    inputSchema,
    outputSchema,
    example: (declared.example as JsonObject | undefined) ?? null,
    external,
    contract: hashOf({
      name,
      effect,
      risky,
      input: inputSchema,
      output: outputSchema,
      codes: [...wordings.keys()],
      ...(elsewhere === null ? {} : { external: contractOf(elsewhere, elsewhere.backend) }),
    }).slice(0, 16),
    refusal(code, facts) {
      const told = wordings.get(code)?.(facts) ?? 'The action was refused.';
      return typeof told === 'string' ? { message: told } : told;
    },
    misfit: misfitOf,
    bind(args) {
      const parsed = input.safeParse(withoutNullDefaults(args, inputSchema));
      if (!parsed.success) return { ok: false, problems: problemsOf(parsed.error, inputSchema) };
      return {
        ok: true,
        bound:
          declared.effect === 'none' ? bindRead(declared, parsed.data) : bindEffect(declared, parsed.data, external),
      };
    },
  };
}

function bindRead<
  Input extends ObjectSchema,
  Output extends ObjectSchema,
  Code extends string,
  Reads extends Ports,
  Declared extends Backend | undefined,
>(tool: ReadTool<Input, Output, Code, Reads, Declared>, input: z.output<Input>): BoundRead {
  return {
    effect: 'none',
    input: input as JsonObject,
    run: async (kit, context) => (await tool.run(input, opened(tool, tool.backend, kit, context), context)) as Ran,
  };
}

function bindEffect<
  Input extends ObjectSchema,
  Output extends ObjectSchema,
  Code extends string,
  Reads extends Ports,
  Seen extends JsonObject,
  Declared extends Backend | undefined,
>(
  tool: EffectTool<Input, Output, Code, Reads, Seen, Declared>,
  input: z.output<Input>,
  external: ExternalRecipe | null,
): BoundEffect {
  const { effect } = tool;
  const base = {
    effect: 'keyed',
    input: input as JsonObject,
    money: effect.money?.(input) ?? null,
    // What the tool's own check saw; JSON brought it back as it was.
    subject: (seen: JsonObject) => effect.subject?.(input, seen as Seen) ?? null,
    facts: (seen: JsonObject) => tool.facts?.(seen as Seen) ?? [],
    check: (kit: Kit, context: CallContext) =>
      tool.check(input, opened(tool, external?.backend as Declared, kit, context), context),
  } as const;
  if (effect.ledger !== undefined)
    return {
      ...base,
      backend: ledgerBackend(effect.ledger),
      external: null,
      send: (kit, attempt, context) => sendAttempt(kit, attempt, input as JsonObject, effect.send(input, context)),
    };
  if (external === null) throw new Error('an effect is of the ledger or of a backend');
  return { ...base, backend: external.backend.name, external };
}

/** A handler reaches the back ends its tool declares and no others. */
function opened<Reads extends Ports, Declared extends Backend | undefined>(
  { reads }: { reads?: Reads },
  backend: Declared | undefined,
  kit: Kit,
  { signal }: CallContext,
): Opened<Reads> & ApiOf<Declared> {
  const ports = Object.entries(reads ?? {}).map(([name, port]): [string, unknown] => [name, port.open(kit)]);
  const api = backend === undefined ? [] : [['api', kit.backends.api(backend, signal)]];
  return Object.fromEntries([...ports, ...api]) as Opened<Reads> & ApiOf<Declared>;
}

/** Models send null for an optional argument; where a default exists, null means absent. */
function withoutNullDefaults(args: JsonObject, schema: JsonObject): JsonObject {
  const properties = schema['properties'] as Record<string, JsonObject>;
  return Object.fromEntries(
    Object.entries(args).filter(
      ([name, value]) => value !== null || !Object.hasOwn(properties, name) || !('default' in (properties[name] ?? {})),
    ),
  );
}

const jsonSchemaOf = (schema: ObjectSchema, io: 'input' | 'output'): JsonObject => {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { io, target: 'draft-2020-12' });
  return rest as JsonObject;
};
