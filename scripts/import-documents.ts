/**
 * `npm run docs:import -- FOLDER [--remote]`: stores the Markdown files of a folder as help-centre documents in the local
 * database (the one `npm run dev` serves), or in the production one. A second run changes nothing and says so. Documents
 * that are stored but not in the folder stay.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import * as z from 'zod';
import { importSql, planImport } from './document-files.ts';
import { documentsIn } from './document-folder.ts';
import { runWrangler } from './wrangler.ts';

const FOLDER = join(import.meta.dirname, '../.wrangler');

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { remote: { type: 'boolean', default: false } },
});
const where = values.remote ? ['--remote', '--env', 'production'] : ['--local'];

const d1 = (...args: string[]): Promise<string> => runWrangler(['d1', ...args, ...where], FOLDER);

const digestRows = z.tuple([z.object({ results: z.array(z.object({ doc_id: z.string(), digest: z.string() })) })]);

async function storedDigests(): Promise<Map<string, string>> {
  const answer = await d1('execute', 'toolgate', '--json', '--command', 'SELECT doc_id, digest FROM documents');
  const [{ results }] = digestRows.parse(JSON.parse(answer));
  return new Map(results.map(({ doc_id, digest }) => [doc_id, digest]));
}

async function execute(sql: string): Promise<void> {
  const scratch = mkdtempSync(join(tmpdir(), 'toolgate-import-'));
  try {
    const file = join(scratch, 'documents.sql');
    writeFileSync(file, sql);
    await d1('execute', 'toolgate', '--yes', '--file', file);
  } finally {
    rmSync(scratch, { recursive: true });
  }
}

async function importFolder(directory: string): Promise<void> {
  const { documents, skipped } = documentsIn(directory);
  for (const { name, why } of skipped) console.log(`skipped ${name}: ${why}`);
  if (documents.length === 0) throw new Error(`There is no document in ${directory}.`);

  if (!values.remote) await d1('migrations', 'apply', 'toolgate');
  const { added, changed, unchanged } = planImport(documents, await storedDigests());
  if (added.length + changed.length === 0) {
    console.log(`Nothing to change: all ${unchanged.length} documents are stored as they are here.`);
    return;
  }
  await execute(importSql([...added, ...changed]));
  for (const { id } of added) console.log(`added ${id}`);
  for (const { id } of changed) console.log(`changed ${id}`);
  console.log(`${added.length} added, ${changed.length} changed, ${unchanged.length} unchanged.`);
}

try {
  const [folder] = positionals;
  if (folder === undefined || positionals.length > 1)
    throw new Error('Usage: npm run docs:import -- FOLDER [--remote]');
  // npm runs scripts in the repository; the folder is meant from where the user stands.
  await importFolder(resolve(process.env['INIT_CWD'] ?? '.', folder));
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
