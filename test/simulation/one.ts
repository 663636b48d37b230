import './platform.ts';
import { scenarioOf } from './scenario.ts';
const { run } = await import('./run.ts');
const from = Number(process.argv[2] ?? 1), to = Number(process.argv[3] ?? from);
const t = process.hrtime.bigint(); let events = 0, bad = 0; const rules: Record<string, number[]> = {};
const cpu={h:0,d:0,nh:0,nd:0,l:0,nl:0};
for (let seed = from; seed <= to; seed += 1) {
  const c0=process.cpuUsage();
  const r = await run(scenarioOf(seed), from === to);
  events += r.events; const c=process.cpuUsage(c0); const sc=scenarioOf(seed); const ms1=(c.user+c.system)/1000; if(sc.http){cpu.h+=ms1;cpu.nh++}else{cpu.d+=ms1;cpu.nd++} if(sc.long){cpu.l+=ms1;cpu.nl++}
  if (from === to) process.stdout.write(r.lines.join('\n') + '\n' + r.hash + '\n');
  if (r.violations.length) { bad++; for (const v of r.violations.slice(0,1)) { (rules[v.rule] ??= []).push(seed); if (bad <= 5) process.stdout.write(`${seed} ${v.rule} ${v.text}\n`); } }
}
const ms = Number(process.hrtime.bigint() - t) / 1e6;
process.stdout.write(`${to - from + 1} seeds, ${bad} bad, ${(ms / (to - from + 1)).toFixed(1)} ms/seed, ${events} events\n`);
for (const [rule, seeds] of Object.entries(rules)) process.stdout.write(`${rule}: ${seeds.length} e.g. ${seeds.slice(0, 8)}\n`);

process.stdout.write(`http ${(cpu.h/cpu.nh).toFixed(1)} (${cpu.nh}) direct ${(cpu.d/cpu.nd).toFixed(1)} (${cpu.nd}) long ${(cpu.l/cpu.nl).toFixed(1)}\n`);
