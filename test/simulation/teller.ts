import './platform.ts';
import { scenarioOf } from './generate.ts';
import { shrink } from './shrink.ts';

const { run } = await import('./run.ts');
const print = (line: string): void => void process.stdout.write(`${line}\n`);

const scenario = scenarioOf(Number(process.argv[2]));
const [once, again] = [await run(scenario, true), await run(scenario)];
if (once.hash !== again.hash) {
  print(`seed ${scenario.seed} does not replay: ${once.hash}, then ${again.hash}`);
  process.exitCode = 1;
}
const [first] = once.violations;
if (first === undefined) {
  print(once.lines.join('\n'));
  print(`seed ${scenario.seed}: trace ${once.hash}, nothing broken`);
} else {
  const short = await shrink(scenario, async (smaller) =>
    (await run(smaller)).violations.some(({ rule }) => rule === first.rule),
  );
  const told = await run(short, true);
  print(told.lines.join('\n'));
  print(`seed ${scenario.seed}: ${first.rule}: ${first.text}`);
  print(
    `trace ${once.hash}, the same twice; shrunk from ${scenario.clients.length} clients to ${short.clients.length}: ${JSON.stringify(short)}`,
  );
  process.exitCode = 1;
}
