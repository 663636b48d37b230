/**
 * What callers and models rely on of every published tool, as it stands in test/golden: one file for each format of
 * `GET /v1/tools`, and contract.json for what no definition shows. A published contract never changes, defaults included
 * (docs/specification.md#declaring-a-tool): models were prompted with it, approvals were given for it. Its only later
 * change is the sentence "Deprecated:
 * use …" at the end of its description, which is left out here.
 */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { JsonObject, JsonValue } from '../src/gate/json.ts';
import { definitionFormats } from '../src/gate/providers/index.ts';
import { neutral } from '../src/gate/providers/index.ts';
import type { Tool } from '../src/gate/tool/define-tool.ts';

/** Tool name -> what is published of it in this format. */
export type Golden = { [tool: string]: JsonValue };

export const goldenPath = (file: string): string => path.join(import.meta.dirname, '../test/golden', `${file}.json`);

/** Empty where nothing was published in this format yet. */
export function readGolden(file: string): Golden {
  const from = goldenPath(file);
  return existsSync(from) ? (JSON.parse(readFileSync(from, 'utf8')) as Golden) : {};
}

/** File name, without `.json` -> all tools in it. */
export function publishedBy(tools: readonly Tool[]): Map<string, Golden> {
  const formats = [neutral, ...definitionFormats.values()];
  return new Map<string, Golden>([
    ['contract', goldenOf(tools, contractOf)],
    ...formats.map((format): [string, Golden] => [
      format.name,
      goldenOf(tools, (tool) => format.tools([{ ...tool, description: withoutDeprecation(tool) }])),
    ]),
  ]);
}

const goldenOf = (tools: readonly Tool[], entry: (tool: Tool) => JsonValue): Golden =>
  Object.fromEntries(tools.map((tool) => [tool.name, entry(tool)]));

const contractOf = ({ contract, effect, risky, outputSchema, codes }: Tool): JsonObject => ({
  contract,
  effect,
  risky,
  outputSchema,
  codes: [...codes],
});

const withoutDeprecation = ({ description }: Tool): string =>
  description.replace(/ ?Deprecated: use [a-z0-9_]+\.$/, '');

export type Drift = { kind: 'new' | 'changed' | 'gone'; message: string };

/** How what is published now differs from what a file holds, down to the order of members: models and caches see bytes. */
export function driftOf(file: string, golden: Golden, published: Golden): Drift[] {
  const names = [...new Set([...Object.keys(golden), ...Object.keys(published)])].toSorted();
  return names.flatMap((name): Drift[] => {
    const [before, now] = [golden[name], published[name]];
    if (before === undefined)
      return [
        { kind: 'new', message: `${name} is not in ${file}.json yet: run "npm run golden:add" and commit the file.` },
      ];
    if (now === undefined)
      return [
        {
          kind: 'gone',
          message: `${name} was published and is gone from ${file}.json: callers rely on it, restore it.`,
        },
      ];
    if (JSON.stringify(before) === JSON.stringify(now)) return [];
    return [{ kind: 'changed', message: changed(name, file) }];
  });
}

function changed(name: string, file: string): string {
  const next = nextNameOf(name);
  return (
    `The published contract of ${name} changed (${file}.json). Restore it, and publish the change as a new tool ${next} ` +
    `beside it, with deprecatedBy: '${next}' in ${name} (docs/extending.md).`
  );
}

function nextNameOf(name: string): string {
  const { base = name, version = '1' } = /^(?<base>.*)_v(?<version>\d+)$/.exec(name)?.groups ?? {};
  return `${base}_v${Number(version) + 1}`;
}
