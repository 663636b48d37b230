/**
 * Turns one tool's declaration into a plain `Tool`: schemas, contract version and handlers closed over their own types,
 * so that registry and stages need no generics. Illegal declarations are refused when the module loads.
 */
import * as z from 'zod';
import { hashOf } from '../canonical.ts';
import type { JsonObject } from '../json.ts';
import type { Problem, ToolRefusal } from '../outcome.ts';
import type { Attempt, Kit, LedgerRow, Money, Port } from '../ports.ts';
import { ledgerBackend, sendAttempt, type Judgement } from '../ledger/attempts.ts';
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

/** Valid arguments of a tool with an effect. */
export interface BoundEffect {
  readonly effect: 'keyed';
  readonly input: JsonObject;
  readonly money: Money | null;
  /** Where its attempts are written, such as `ledger:orders`. */
  readonly backend: string;
  /** What the call concerns, such as an order; approvals of one subject are shown together. */
  readonly subject: string | null;
  check(kit: Kit, context: CallContext): Promise<Checked>;
  /** What an approver is shown of what the check saw. */
  facts(seen: JsonObject): Fact[];
  /** Sends the attempt and answers with the ledger's row. Safe to repeat. */
  send(kit: Kit, attempt: Attempt, context: CallContext): Promise<LedgerRow>;
}

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

type ReadTool<
  Input extends ObjectSchema,
  Output extends ObjectSchema,
  Code extends string,
  Reads extends Ports,
> = Shared<Input, Output, Code, Reads> & {
  effect: 'none';
  risky: false;
  run(
    input: z.output<Input>,
    ports: Opened<Reads>,
    context: CallContext,
  ): Promise<{ ok: true; data: z.output<Output> } | Refused<Code>>;
};

type EffectTool<
  Input extends ObjectSchema,
  Output extends ObjectSchema,
  Code extends string,
  Reads extends Ports,
  Seen extends JsonObject,
> = Shared<Input, Output, Code, Reads> & {
  /** Who keeps the record of the effect, and how it is sent. */
  effect: LedgerEffect<z.output<Input>>;
  risky: boolean;
  money?(input: z.output<Input>): Money;
  subject?(input: z.output<Input>): string;
  /** Business rules, judged before the effect and again when a person approves it. */
  check(
    input: z.output<Input>,
    ports: Opened<Reads>,
    context: CallContext,
  ): Promise<{ ok: true; seen: Seen } | (Refused<Code> & { seen?: Seen })>;
  /** What approvers are shown of what the check saw; nothing, where it is absent. */
  facts?(seen: Seen): Fact[];
};

/**
 * An effect whose system of record is the ledger, the gate's own D1 database: it is done when its row stands there.
 * `ledger` names the tool's books: totals are kept for each subject of `ledger:<name>`. `send` judges the attempt in the
 * transaction that writes it. A trigger of the tool on `attempts` may change further tables in the same transaction.
 */
export type LedgerEffect<Input> = {
  ledger: string;
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
>(declared: ReadTool<Input, Output, Code, Reads> | EffectTool<Input, Output, Code, Reads, Seen>): Tool {
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
    contract: hashOf({
      name,
      effect,
      risky,
      input: inputSchema,
      output: outputSchema,
      codes: [...wordings.keys()],
    }).slice(0, 16),
    refusal(code, facts) {
      const told = wordings.get(code)?.(facts) ?? 'The action was refused.';
      return typeof told === 'string' ? { message: told } : told;
    },
    misfit: (data) => output.safeParse(data).error?.issues[0]?.path.join('.') ?? null,
    bind(args) {
      const parsed = input.safeParse(withoutNullDefaults(args, inputSchema));
      if (!parsed.success) return { ok: false, problems: problemsOf(parsed.error, inputSchema) };
      return {
        ok: true,
        bound: declared.effect === 'none' ? bindRead(declared, parsed.data) : bindEffect(declared, parsed.data),
      };
    },
  };
}

function bindRead<Input extends ObjectSchema, Output extends ObjectSchema, Code extends string, Reads extends Ports>(
  tool: ReadTool<Input, Output, Code, Reads>,
  input: z.output<Input>,
): BoundRead {
  return {
    effect: 'none',
    input: input as JsonObject,
    run: async (kit, context) => (await tool.run(input, opened(tool.reads, kit), context)) as Ran,
  };
}

function bindEffect<
  Input extends ObjectSchema,
  Output extends ObjectSchema,
  Code extends string,
  Reads extends Ports,
  Seen extends JsonObject,
>(tool: EffectTool<Input, Output, Code, Reads, Seen>, input: z.output<Input>): BoundEffect {
  return {
    effect: 'keyed',
    input: input as JsonObject,
    money: tool.money?.(input) ?? null,
    backend: ledgerBackend(tool.effect.ledger),
    subject: tool.subject?.(input) ?? null,
    check: (kit, context) => tool.check(input, opened(tool.reads, kit), context),
    // The tool's own check made it, and JSON brought it back as it was.
    facts: (seen) => tool.facts?.(seen as Seen) ?? [],
    send: (kit, attempt, context) => sendAttempt(kit, attempt, input as JsonObject, tool.effect.send(input, context)),
  };
}

/** A handler reaches the back ends its tool declares and no others. */
const opened = <Declared extends Ports>(ports: Declared | undefined, kit: Kit): Opened<Declared> =>
  Object.fromEntries(Object.entries(ports ?? {}).map(([name, port]) => [name, port.open(kit)])) as Opened<Declared>;

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
