/**
 * `SESSION_TOKEN=… npm run mcp:conformance -- URL [REVISION …]`: the protocol's public conformance suite against /mcp of the Worker at
 * that origin, once for each revision (all three, where none is named). The suite cannot send a credential, so a proxy does, and it makes some two hundred
 * calls: the session should have that many steps. What cannot apply stands, with its reason, in
 * test/contract/mcp-not-applicable.yaml.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { startAuthorizingProxy } from './authorizing-proxy.ts';

const SUITE = fileURLToPath(import.meta.resolve('@modelcontextprotocol/conformance/dist/index.js'));
const NOT_APPLICABLE = path.join(import.meta.dirname, '../test/contract/mcp-not-applicable.yaml');

/** All that the suite has scenarios for and that is still spoken; each run also holds every answer to that revision's schema. */
const REVISIONS = ['2025-06-18', '2025-11-25', '2026-07-28'];

const [url, ...named] = process.argv.slice(2);
const token = process.env['SESSION_TOKEN'];
if (url === undefined || token === undefined) {
  console.error('usage: SESSION_TOKEN=… npm run mcp:conformance -- URL [REVISION …]');
  process.exit(2);
}

const proxy = await startAuthorizingProxy(url, token);
for (const revision of named.length === 0 ? REVISIONS : named) {
  console.log(`\nMCP ${revision}`);
  const options = ['--suite', 'all', '--spec-version', revision, '--expected-failures', NOT_APPLICABLE];
  const suite = spawn(process.execPath, [SUITE, 'server', '--url', `${proxy.url}/mcp`, ...options], {
    stdio: 'inherit',
  });
  const [code] = (await once(suite, 'exit')) as [number | null];
  if (code !== 0) process.exitCode = 1;
}
await proxy.stop();
