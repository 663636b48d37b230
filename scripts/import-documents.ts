/**
 * `npm run docs:import -- FOLDER [--remote]`: stores the Markdown files of a folder as help-centre documents in the local
 * database (the one `npm run dev` serves), or in the production one. A second run changes nothing and says so. Documents
 * that are stored but not in the folder stay.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import * as z from 'zod';
import { importSql, planImport } from './document-files.ts';
import { documentsIn } from './document-folder.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { remote: { type: 'boolean', default: false } },
});
const where = values.remote ? ['--remote', '--env', 'production'] : ['--local'];

function wrangler(...args: string[]): string {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['node_modules/wrangler/bin/wrangler.js', 'd1', ...args, ...where],
    {
      cwd: ROOT,
      encoding: 'utf8',
      // Without a terminal to ask in, wrangler must not wait for an answer.
      env: { ...process.env, CI: 'true', WRANGLER_HIDE_BANNER: 'true', WRANGLER_SEND_METRICS: 'false' },
    },
  );
  if (status !== 0) throw new Error(`wrangler d1 ${args.slice(0, 2).join(' ')} failed:\n${stdout}${stderr}`);
  return stdout;
}

const digestRows = z.tuple([z.object({ results: z.array(z.object({ doc_id: z.string(), digest: z.string() })) })]);

function storedDigests(): Map<string, string> {
  const answer = wrangler('execute', 'toolgate', '--json', '--command', 'SELECT doc_id, digest FROM documents');
  const [{ results }] = digestRows.parse(JSON.parse(answer));
  return new Map(results.map(({ doc_id, digest }) => [doc_id, digest]));
}

function execute(sql: string): void {
  const scratch = mkdtempSync(join(tmpdir(), 'toolgate-import-'));
  try {
    const file = join(scratch, 'documents.sql');
    writeFileSync(file, sql);
    wrangler('execute', 'toolgate', '--yes', '--file', file);
  } finally {
    rmSync(scratch, { recursive: true });
  }
}

function importFolder(directory: string): void {
  const { documents, skipped } = documentsIn(directory);
  for (const { name, why } of skipped) console.log(`skipped ${name}: ${why}`);
  if (documents.length === 0) throw new Error(`There is no document in ${directory}.`);

  if (!values.remote) wrangler('migrations', 'apply', 'toolgate');
  const { added, changed, unchanged } = planImport(documents, storedDigests());
  if (added.length + changed.length === 0) {
    console.log(`Nothing to change: all ${unchanged.length} documents are stored as they are here.`);
    return;
  }
  execute(importSql([...added, ...changed]));
  for (const { id } of added) console.log(`added ${id}`);
  for (const { id } of changed) console.log(`changed ${id}`);
  console.log(`${added.length} added, ${changed.length} changed, ${unchanged.length} unchanged.`);
}

try {
  const [folder] = positionals;
  if (folder === undefined || positionals.length > 1)
    throw new Error('Usage: npm run docs:import -- FOLDER [--remote]');
  // npm runs scripts in the repository; the folder is meant from where the user stands.
  importFolder(resolve(process.env['INIT_CWD'] ?? '.', folder));
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
