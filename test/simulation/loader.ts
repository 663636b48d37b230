/**
 * Lets a plain Node process load the product: JSX is compiled once into a cache, the platform's own module is stood in for,
 * and a planted bug is a replaced text in one file. Preloaded with `--import`; nothing of it is in the product.
 */
import { createHash } from 'node:crypto';
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { registerHooks, stripTypeScriptTypes } from 'node:module';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { plant, type Replacement } from './planted/bug.ts';

const ROOT = `${resolve(import.meta.dirname, '../..')}/`;
const CACHE = `${ROOT}node_modules/.cache/simulation`;
const replacements = JSON.parse(process.env['SIMULATION_PLANTED'] ?? '[]') as Replacement[];

const compiled = new Map<string, string>();
for (const file of globSync(`${ROOT}src/**/*.tsx`))
  compiled.set(file, await compile(file, planted(file, readFileSync(file, 'utf8'))));

registerHooks({
  resolve(specifier, context, next) {
    if (specifier === 'cloudflare:workers') return { url: 'simulation:workers', shortCircuit: true };
    return next(specifier, context);
  },
  load(url, context, next) {
    if (url === 'simulation:workers')
      return { format: 'module', source: 'export class DurableObject {}', shortCircuit: true };
    if (!url.startsWith('file:') || url.includes('/node_modules/')) return next(url, context);
    const file = fileURLToPath(url);
    if (file.endsWith('.json'))
      return { format: 'module', source: jsonModule(readFileSync(file, 'utf8')), shortCircuit: true };
    const source = compiled.get(file);
    if (source !== undefined) return { format: 'module', source, shortCircuit: true };
    if (!replacements.some((each) => file.endsWith(`/${each.file}`))) return next(url, context);
    return {
      format: 'module',
      source: stripTypeScriptTypes(planted(file, readFileSync(file, 'utf8'))),
      shortCircuit: true,
    };
  },
});

/** As bundlers see JSON: no import attribute needed, and members can be imported by name. */
function jsonModule(text: string): string {
  const names = Object.keys(JSON.parse(text) as object).filter((name) => /^[a-z]\w*$/i.test(name));
  const members = names.map((name, i) => `const member${i} = json.${name};\nexport { member${i} as ${name} };`);
  return [`const json = ${text};`, 'export default json;', ...members].join('\n');
}

function planted(file: string, source: string): string {
  return replacements.filter((each) => file.endsWith(`/${each.file}`)).reduce(plant, source);
}

async function compile(file: string, source: string): Promise<string> {
  const cached = `${CACHE}/${createHash('sha256').update(file).update(source).digest('hex')}.js`;
  if (existsSync(cached)) return readFileSync(cached, 'utf8');
  const { transformWithOxc } = await import('vite');
  const options = { jsx: { runtime: 'automatic', importSource: 'hono/jsx' } } as const;
  const { code } = await transformWithOxc(source, file, options);
  mkdirSync(CACHE, { recursive: true });
  writeFileSync(cached, code);
  return code;
}
