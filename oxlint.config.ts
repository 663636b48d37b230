// The house rules a reader need not check by eye. The doors between the rooms of src/ stand in one table below.
import { defineConfig, type OxlintOverride } from 'oxlint';

/** Files at the top of src/ that any room may use; they use only each other. */
const shared = ['outcome', 'ports', 'json', 'canonical', 'money', 'time', 'error-facts', 'log'];
const entries = ['index', 'app', 'env'];

/** The session object is reached by RPC: other rooms name its types and never load its code. */
const sessionTypes = 'type session/rpc';

/**
 * room -> what it may import besides itself and the shared files. A name with a slash opens that one file, `type` before it
 * only its types.
 */
const doors: Record<string, readonly string[]> = {
  auth: ['env'],
  http: ['auth', 'env', 'observation', 'providers', 'store', 'tools/index', sessionTypes],
  mail: ['auth', 'env', sessionTypes],
  observation: [],
  pipeline: ['tools'],
  providers: ['observation'],
  session: ['auth', 'env', 'observation', 'pipeline', 'store', 'tools/index', 'type tools/define-tool'],
  store: [],
  tools: [],
};
const rooms = Object.keys(doors);

/** Rooms that also run outside Workers, under the simulation: no framework, no platform, no clock, no randomness. */
const pureRooms = ['observation', 'pipeline', 'providers', 'store', 'tools'];

type Pattern = { regex?: string; group?: string[]; message: string; allowTypeImports?: true };

const message = 'There is no door from here to there: see oxlint.config.ts.';

function shut(names: readonly string[]): Pattern {
  return { regex: String.raw`^(\.\.?/)+(${names.join('|')})(/|\.tsx?$)`, message };
}

/** Shuts a room but for single files of it, or for their types. */
function shutBut(room: string, singles: readonly string[]): Pattern[] {
  const exceptions = singles.map((door) => `!**/${door.replace('type ', '')}.ts`);
  const typeOnly = singles.filter((door) => door.startsWith('type ')).map((door) => door.slice('type '.length));
  return [
    // First, since an exception in the last pattern would let it pass.
    ...typeOnly.map((file): Pattern => {
      return { regex: `/${file}[.]ts$`, allowTypeImports: true, message: `Only \`import type\` from src/${file}.ts.` };
    }),
    { group: [`**/${room}/**`, ...exceptions], message },
  ];
}

const platform: Pattern = {
  regex: '^(hono|cloudflare:|node:|@hono/|@cloudflare/)',
  message: 'This room meets the outside world through src/ports.ts.',
};

function restrictImports(files: string[], patterns: Pattern[]): OxlintOverride {
  return { files, rules: { 'no-restricted-imports': ['error', { patterns }] } };
}

function doorsOf(room: string): OxlintOverride {
  const open = doors[room] ?? [];
  const singlesOf = (other: string) => open.filter((door) => door.replace('type ', '').startsWith(`${other}/`));
  const others = rooms.filter((other) => other !== room && !open.includes(other));
  const partly = others.filter((other) => singlesOf(other).length > 0);
  const closed = [...others, ...entries].filter((other) => !partly.includes(other) && !open.includes(other));
  return restrictImports(
    [`src/${room}/**`],
    [
      ...partly.flatMap((other) => shutBut(other, singlesOf(other))),
      shut(closed),
      ...(pureRooms.includes(room) ? [platform] : []),
    ],
  );
}

export default defineConfig({
  options: { typeAware: true, denyWarnings: true, reportUnusedDisableDirectives: 'error' },
  plugins: ['typescript', 'unicorn', 'oxc', 'import', 'promise', 'vitest'],
  categories: { correctness: 'error', suspicious: 'error' },
  env: { es2024: true },
  ignorePatterns: ['worker-configuration.d.ts'],
  rules: {
    'max-lines': ['error', { max: 250, skipBlankLines: false, skipComments: false }],
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
      [...shared, 'json-grammar'].map((name) => `src/${name}.ts`),
      [shut([...rooms, ...entries])],
    ),
    restrictImports(['src/env.ts'], [shut([...rooms, 'index', 'app'])]),
    // Only src/index.ts loads the session object and the mail consumer.
    restrictImports(['src/app.ts'], [shut(['mail', 'index']), ...shutBut('session', [sessionTypes])]),
    {
      files: pureRooms.map((room) => `src/${room}/**`),
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
