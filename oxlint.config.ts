// The house rules a reader need not check by eye. The doors between the rooms of src/ stand in one table below.
import { defineConfig, type OxlintOverride } from 'oxlint';

/** Files at the top of src/gate/ that any room may use; they use only each other. */
const shared = [
  'outcome',
  'ports',
  'json',
  'json-grammar',
  'canonical',
  'time',
  'error-facts',
  'log-line',
  'schema-messages',
];
const entries = ['index', 'worker', 'app', 'env'];

/** The session object is reached by RPC: other rooms name its types and never load its code. */
const sessionTypes = 'type session/rpc';
const http = ['auth', 'env', 'money', 'observation', 'policy', 'providers', 'ledger', 'tool', sessionTypes];

/**
 * Room of src/gate -> what it may import besides itself and the shared files. A name with a slash opens that one folder or
 * file, `type` before it only its types. The three audiences of http share http/shared and never import each other.
 */
const doors: Record<string, readonly string[]> = {
  auth: ['env'],
  backends: [],
  'http/agent': [...http, 'http/shared'],
  'http/operator': [...http, 'http/shared'],
  'http/approver': [...http, 'http/shared'],
  'http/docs': [...http, 'http/shared', 'http/agent', 'http/operator', 'http/approver'],
  'http/shared': http,
  ledger: ['policy', 'money'],
  mail: ['auth', 'env', 'money', 'tool', sessionTypes],
  money: [],
  observation: [],
  pipeline: ['backends', 'tool', 'money', 'policy'],
  policy: ['money'],
  providers: ['observation', 'tool'],
  session: ['auth', 'backends', 'env', 'ledger', 'money', 'observation', 'pipeline', 'policy', 'tool'],
  tool: ['backends', 'ledger', 'money'],
};
const rooms = Object.keys(doors);

/** Rooms that also run outside Workers, under the simulation: no framework, no platform, no clock, no randomness. */
const pureRooms = ['backends', 'ledger', 'money', 'observation', 'pipeline', 'policy', 'providers', 'tool'];

type Pattern = { regex?: string; group?: string[]; message: string; allowTypeImports?: true };

const message = 'There is no door from here to there: see oxlint.config.ts.';

const shut = (names: readonly string[]): Pattern => ({
  regex: String.raw`^(\.\.?/)+(gate/)?(${names.join('|')})(/|\.tsx?$)`,
  message,
});

/** Opens only the types of one file of a room that is otherwise shut. */
function typesOnly(door: string): Pattern[] {
  const file = door.slice('type '.length);
  const [room = ''] = file.split('/');
  return [
    { regex: `/${file}[.]ts$`, allowTypeImports: true, message: `Only \`import type\` from src/gate/${file}.ts.` },
    { group: [`**/${room}/**`, `!**/${file}.ts`], message },
  ];
}

const platform: Pattern = {
  regex: '^(hono|cloudflare:|node:|@hono/|@cloudflare/)',
  message: 'This room meets the outside world through src/gate/ports.ts.',
};
const tools: Pattern = {
  regex: String.raw`^(\.\./)+tools/`,
  message: 'The gate knows no tool: it is given the list by createToolgate.',
};

function restrictImports(files: string[], patterns: Pattern[]): OxlintOverride {
  return { files, rules: { 'no-restricted-imports': ['error', { patterns }] } };
}

function doorsOf(room: string): OxlintOverride {
  const open = doors[room] ?? [];
  const types = open.filter((door) => door.startsWith('type '));
  const closed = [...rooms, ...entries].filter(
    (other) => other !== room && !open.includes(other) && !types.some((door) => door.startsWith(`type ${other}/`)),
  );
  // From one room of http to another the path does not name http.
  const names = closed.flatMap((name) => (name.startsWith('http/') ? [name, name.slice('http/'.length)] : [name]));
  return restrictImports(
    [`src/gate/${room}/**`],
    [...types.flatMap(typesOnly), shut(names), tools, ...(pureRooms.includes(room) ? [platform] : [])],
  );
}

export default defineConfig({
  options: { typeAware: true, denyWarnings: true, reportUnusedDisableDirectives: 'error' },
  plugins: ['typescript', 'unicorn', 'oxc', 'import', 'promise', 'vitest'],
  categories: { correctness: 'error', suspicious: 'error' },
  env: { es2024: true },
  // The model is written for the search: states are bytes, and names are short.
  ignorePatterns: ['worker-configuration.d.ts', 'test/model/external-effect.mjs'],
  rules: {
    'max-lines': ['error', { max: 350, skipBlankLines: false, skipComments: false }],
    // `import { z } from 'zod'` triples the bundle.
    'unicorn/import-style': ['error', { extendDefaultStyles: false, styles: { zod: { namespace: true } } }],

    // A lost await is a lost audit row.
    'typescript/no-floating-promises': 'error',
    'typescript/no-misused-promises': 'error',
    'typescript/await-thenable': 'error',
    'typescript/return-await': ['error', 'in-try-catch'],
    'typescript/only-throw-error': 'error',
    'typescript/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],

    // No way around the types, and none around these rules (`npm run lint:suppressions` finds the comments that switch one off).
    'typescript/no-explicit-any': 'error',
    'typescript/no-non-null-assertion': 'error',
    'typescript/no-unsafe-argument': 'error',
    'typescript/no-unsafe-assignment': 'error',
    'typescript/no-unsafe-call': 'error',
    'typescript/no-unsafe-member-access': 'error',
    'typescript/no-unsafe-return': 'error',
    'typescript/ban-ts-comment': [
      'error',
      { 'ts-expect-error': 'allow-with-description', minimumDescriptionLength: 10 },
    ],
    'typescript/consistent-type-imports': 'error',
    'typescript/no-deprecated': 'error',
    // `== null` is the one idiom for "null or absent".
    eqeqeq: ['error', 'always', { null: 'ignore' }],
    'no-var': 'error',
    'prefer-const': 'error',
    'import/no-cycle': 'error',
    'unicorn/prefer-node-protocol': 'error',

    // Cleaning outside strings means naming control characters.
    'no-control-regex': 'off',
    // Spreading a string gives its code points, which is what the rules on size and cleaning count.
    'typescript/no-misused-spread': 'off',
    // Branded types and parsed rows need a cast at the one place that has proved them.
    'typescript/no-unsafe-type-assertion': 'off',
    // The compiler's noImplicitReturns does this, and knows an exhaustive switch.
    'typescript/consistent-return': 'off',
    // Matters of taste.
    'no-shadow': 'off',
    'no-underscore-dangle': 'off',
    'unicorn/consistent-function-scoping': 'off',
    'import/no-unassigned-import': 'off',
    'import/no-named-as-default-member': 'off',
    'promise/always-return': 'off',
    'promise/no-promise-in-callback': 'off',
    'unicorn/no-useless-spread': 'off',
  },
  overrides: [
    ...rooms.map(doorsOf),
    restrictImports(
      shared.map((name) => `src/gate/${name}.ts`),
      [shut([...rooms, ...entries]), tools],
    ),
    restrictImports(['src/gate/env.ts'], [shut([...rooms, 'index', 'worker', 'app']), tools]),
    // Only src/gate/worker.ts loads the session object and the mail consumer.
    restrictImports(['src/gate/app.ts'], [shut(['mail', 'index', 'worker']), ...typesOnly(sessionTypes), tools]),
    restrictImports(['src/gate/index.ts', 'src/gate/worker.ts'], [tools]),
    restrictImports(
      ['src/tools/**'],
      [
        {
          group: ['**/gate/**', '!**/gate/index.ts'],
          message: 'A tool imports src/gate/index.ts and nothing else of the gate.',
        },
        platform,
      ],
    ),
    {
      files: [...pureRooms.map((room) => `src/gate/${room}/**`), 'src/tools/**'],
      rules: {
        'no-restricted-globals': ['error', 'crypto', 'performance', 'fetch', 'caches', 'process', 'setInterval'],
        'no-restricted-properties': [
          'error',
          { object: 'Date', property: 'now', message: 'The clock is a port.' },
          { object: 'Math', property: 'random', message: 'Randomness is a port.' },
        ],
      },
    },
    {
      files: ['test/**'],
      rules: {
        'vitest/no-focused-tests': 'error',
        'vitest/no-identical-title': 'error',
        'vitest/valid-expect': ['error', { maxArgs: 2 }],
        // A property or an order test asserts in a helper or in a loop.
        'vitest/expect-expect': 'off',
        'vitest/no-conditional-expect': 'off',
        'vitest/no-standalone-expect': 'off',
        'vitest/no-disabled-tests': 'off',
        'vitest/require-mock-type-parameters': 'off',
        'typescript/unbound-method': 'off',
      },
    },
  ],
});
