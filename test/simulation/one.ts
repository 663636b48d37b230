import './platform.ts';
import { scenarioOf } from './scenario.ts';
const { run } = await import('./run.ts');
const from = Number(process.argv[2] ?? 1), to = Number(process.argv[3] ?? from);
const t = process.hrtime.bigint(); let events = 0, bad = 0; const rules: Record<string, number[]> = {};
for (let seed = from; seed <= to; seed += 1) {
  const r = await run(scenarioOf(seed), from === to);
  events += r.events;
  if (from === to) process.stdout.write(r.lines.join('\n') + '\n' + r.hash + '\n');
  if (r.violations.length) { bad++; for (const v of r.violations.slice(0,1)) { (rules[v.rule] ??= []).push(seed); if (bad <= 5) process.stdout.write(`${seed} ${v.rule} ${v.text}\n`); } }
}
const ms = Number(process.hrtime.bigint() - t) / 1e6;
process.stdout.write(`${to - from + 1} seeds, ${bad} bad, ${(ms / (to - from + 1)).toFixed(1)} ms/seed, ${events} events\n`);
for (const [rule, seeds] of Object.entries(rules)) process.stdout.write(`${rule}: ${seeds.length} e.g. ${seeds.slice(0, 8)}\n`);
