/**
 * Turns one tool's declaration into a plain `Tool`: schemas, contract version and handlers closed over their own types,
 * so that registry and stages need no generics. Illegal declarations are refused when the module loads.
 */
import * as z from 'zod';
import { hashOf } from '../canonical.ts';
import type { JsonObject } from '../json.ts';
import type { Problem } from '../outcome.ts';
import type { Attempt, LedgerRow, Money, ReadPorts, WritePorts } from '../ports.ts';
import { problemsOf } from './problems.ts';

/** The answer of a read, or of a check: what was seen, or one of the tool's own codes with the facts its message names. */
export type Checked =
  | { ok: true; seen: JsonObject }
  | { ok: false; code: string; facts: JsonObject; seen?: JsonObject };
export type Ran = { ok: true; data: JsonObject } | { ok: false; code: string; facts: JsonObject };

/** What every handler may know of the call: whose data exists, and when to give up. */
export type CallContext = { customer_id: string | null; signal: AbortSignal };

/** Arguments that passed the schema, with the tool's handlers bound to them. */
export interface BoundTool {
  /** Defaults filled in; what the call key is made of. */
  readonly input: JsonObject;
  readonly money: Money | null;
  /** What the call concerns, such as an order; approvals of one subject are shown together. */
  readonly subject: string | null;
  check(reads: ReadPorts, context: CallContext): Promise<Checked>;
  /** A read tool's answer. */
  read(reads: ReadPorts, context: CallContext): Promise<Ran>;
  /** A write tool's effect: sends the attempt and answers with the ledger's row. */
  send(writes: WritePorts, attempt: Attempt, context: CallContext): Promise<LedgerRow>;
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
  bind(args: JsonObject): { ok: true; bound: BoundTool } | { ok: false; problems: Problem[] };
  message(code: string, facts: JsonObject): string;
  /** The dotted path of the first field that does not fit the output schema, or null. A drifted backend must not leak. */
  misfit(data: JsonObject): string | null;
}

type ObjectSchema = z.ZodObject<z.ZodRawShape, z.core.$strict>;
/** The tool's own codes in the order they are judged, each with the sentence it tells the model. */
type Codes<Code extends string> = Record<Code, (facts: JsonObject) => string>;
type Refused<Code extends string> = { ok: false; code: Code; facts: JsonObject; seen?: JsonObject };

type Shared<Input extends ObjectSchema, Output extends ObjectSchema, Code extends string> = {
  name: string;
  /** What it does, when to use it, in which units. */
  description: string;
  input: Input;
  output: Output;
  codes: Codes<Code>;
  timeoutMs?: number;
  deprecatedBy?: string;
};

type ReadTool<
  Input extends ObjectSchema,
  Output extends ObjectSchema,
  Code extends string,
  Reads extends keyof ReadPorts,
> = Shared<Input, Output, Code> & {
  effect: 'none';
  risky: false;
  reads: readonly Reads[];
  run(
    input: z.output<Input>,
    ports: Pick<ReadPorts, Reads>,
    context: CallContext,
  ): Promise<{ ok: true; data: z.output<Output> } | Refused<Code>>;
};

type WriteTool<
  Input extends ObjectSchema,
  Output extends ObjectSchema,
  Code extends string,
  Reads extends keyof ReadPorts,
  Writes extends keyof WritePorts,
> = Shared<Input, Output, Code> & {
  effect: 'keyed';
  risky: boolean;
  reads: readonly Reads[];
  writes: readonly Writes[];
  money?(input: z.output<Input>): Money;
  subject?(input: z.output<Input>): string;
  /** Business rules, judged before the effect and again when a person approves it. */
  check(
    input: z.output<Input>,
    ports: Pick<ReadPorts, Reads>,
    context: CallContext,
  ): Promise<{ ok: true; seen: JsonObject } | Refused<Code>>;
  run(
    input: z.output<Input>,
    ports: Pick<WritePorts, Writes>,
    attempt: Attempt,
    context: CallContext,
  ): Promise<LedgerRow>;
};

const DEFAULT_TIMEOUT_MS = 2_000;
/** As long as a name is shown (SPEC 3): by a longer one, cut, nobody could find the tool or the schema that cleans its answer. */
const NAME = /^[a-z][a-z0-9_]{0,39}$/;

/** Refuses a name that stage 1 could never find, and a deprecated tool whose description does not say so. */
export function defineTool<
  Input extends ObjectSchema,
  Output extends ObjectSchema,
  Code extends string,
  Reads extends keyof ReadPorts = never,
  Writes extends keyof WritePorts = never,
>(declared: ReadTool<Input, Output, Code, Reads> | WriteTool<Input, Output, Code, Reads, Writes>): Tool {
  const { name, description, effect, risky, input, output, codes, deprecatedBy } = declared;
  if (!NAME.test(name)) throw new Error(`the tool name ${JSON.stringify(name)} must match ${NAME.source}`);
  if (deprecatedBy !== undefined && !description.endsWith(`Deprecated: use ${deprecatedBy}.`))
    throw new Error(`the description of ${name} must end "Deprecated: use ${deprecatedBy}."`);

  const inputSchema = jsonSchemaOf(input, 'input');
  const outputSchema = jsonSchemaOf(output, 'output');
  const wordings = new Map<string, (facts: JsonObject) => string>(Object.entries<(facts: JsonObject) => string>(codes));

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
    contract: hashOf({
      name,
      effect,
      risky,
      input: inputSchema,
      output: outputSchema,
      codes: [...wordings.keys()],
    }).slice(0, 16),
    message: (code, facts) => wordings.get(code)?.(facts) ?? 'The action was refused.',
    misfit: (data) => output.safeParse(data).error?.issues[0]?.path.join('.') ?? null,
    bind(args) {
      const parsed = input.safeParse(withoutNullDefaults(args, inputSchema));
      if (!parsed.success) return { ok: false, problems: problemsOf(parsed.error, inputSchema) };
      return { ok: true, bound: bindHandlers(declared, parsed.data) };
    },
  };
}

function bindHandlers<
  Input extends ObjectSchema,
  Output extends ObjectSchema,
  Code extends string,
  Reads extends keyof ReadPorts,
  Writes extends keyof WritePorts,
>(
  declared: ReadTool<Input, Output, Code, Reads> | WriteTool<Input, Output, Code, Reads, Writes>,
  input: z.output<Input>,
): BoundTool {
  const shared = { input: input as JsonObject };
  if (declared.effect === 'none') {
    return {
      ...shared,
      money: null,
      subject: null,
      check: () => Promise.reject(new Error(`${declared.name} is a read: nothing is checked before it`)),
      read: async (reads, context) => (await declared.run(input, pick(reads, declared.reads), context)) as Ran,
      send: () => Promise.reject(new Error(`${declared.name} has no effect to send`)),
    };
  }
  return {
    ...shared,
    money: declared.money?.(input) ?? null,
    subject: declared.subject?.(input) ?? null,
    check: (reads, context) => declared.check(input, pick(reads, declared.reads), context),
    read: () => Promise.reject(new Error(`${declared.name} is not a read`)),
    send: (writes, attempt, context) => declared.run(input, pick(writes, declared.writes), attempt, context),
  };
}

/** A tool is handed only the ports it declares: a read tool cannot reach a write even by mistake. */
const pick = <Ports extends object, Name extends keyof Ports>(
  ports: Ports,
  names: readonly Name[],
): Pick<Ports, Name> => Object.fromEntries(names.map((name) => [name, ports[name]])) as Pick<Ports, Name>;

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
