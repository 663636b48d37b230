/**
 * `npm run fuzz -- [--requests N] [--seed S]`: good requests of every route with one thing bent, by the million, over all
 * cores. A finding names its episode; `--episode NAME` tells that one again. Ends with 1 where anything was found
 * or not all was asked and answered.
 */
import { Worker, isMainThread, parentPort, workerData } from 'node:worker_threads';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { Report } from './episode.ts';

const EPISODE_REQUESTS = 400;
const SHOWN_FINDINGS = 10;
/** A long run says how far it is. */
const PROGRESS_REQUESTS = 100_000;

type Share = { episodes: string[]; requests: number };

const say = (line: string): void => void process.stdout.write(`${line}\n`);

function merge(total: Report, part: Report): Report {
  const statuses = { ...total.statuses };
  for (const [name, count] of Object.entries(part.statuses)) statuses[name] = (statuses[name] ?? 0) + count;
  const slowest = part.slowest.ms > total.slowest.ms ? part.slowest : total.slowest;
  return {
    requests: total.requests + part.requests,
    findings: [...total.findings, ...part.findings],
    statuses,
    slowest,
    trace: part.trace,
  };
}

const NOTHING: Report = {
  requests: 0,
  findings: [],
  statuses: {},
  slowest: { ms: 0, seed: '', request: 0, route: '' },
  trace: '',
};

async function work({ episodes, requests }: Share): Promise<void> {
  const { Deployment } = await import('./deployment.ts');
  const { Episode } = await import('./episode.ts');
  for (const episode of episodes)
    parentPort?.postMessage(await new Episode(episode, new Deployment(episode)).run(requests), []);
}

function inWorker(share: Share, heard: (report: Report) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(fileURLToPath(import.meta.url), { workerData: share });
    worker.on('message', heard);
    worker.on('error', reject);
    // Where a promise is never settled the worker just runs dry, and ends with 13 and no error.
    worker.on('exit', (code) => (code === 0 ? resolve() : reject(new Error(`a worker ended with ${code}`))));
  });
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      requests: { type: 'string', default: '20000' },
      seed: { type: 'string', default: '1' },
      episode: { type: 'string' },
    },
  });
  const wanted = Number(values.requests);
  if (!Number.isSafeInteger(wanted) || wanted < 1) throw new Error('--requests takes a number from 1 on.');
  const count = Math.ceil(wanted / EPISODE_REQUESTS);
  const episodes =
    values.episode === undefined
      ? Array.from({ length: count }, (_, index) => `${values.seed}.${index}`)
      : [values.episode];
  const requests = Math.min(EPISODE_REQUESTS, wanted);
  const workers = Math.min(availableParallelism(), episodes.length);
  const started = performance.now();
  let total = NOTHING;
  const shares = Array.from({ length: workers }, (_, mine) => ({
    episodes: episodes.filter((_episode, index) => index % workers === mine),
    requests,
  }));
  await Promise.all(
    shares.map((share) =>
      inWorker(share, (report) => {
        const before = total.requests;
        total = merge(total, report);
        if (Math.floor(before / PROGRESS_REQUESTS) < Math.floor(total.requests / PROGRESS_REQUESTS))
          process.stderr.write(`${total.requests} requests, ${total.findings.length} findings …\n`);
      }),
    ),
  );
  const seconds = (performance.now() - started) / 1_000;
  for (const { seed, request, rule, text } of total.findings.slice(0, SHOWN_FINDINGS))
    say(`FOUND ${rule}: episode ${seed}, request ${request}\n  ${text}\n`);
  const { slowest } = total;
  for (const [name, times] of Object.entries(total.statuses).toSorted(([a], [b]) => (a < b ? -1 : 1)))
    say(`${String(times).padStart(8)}  ${name}`);
  say(`slowest ${slowest.ms.toFixed(0)} ms: ${slowest.route}, episode ${slowest.seed}, request ${slowest.request}`);
  if (values.episode !== undefined) say(`trace ${total.trace}`);
  const answered = Object.values(total.statuses).reduce((sum, times) => sum + times, 0);
  say(`${total.requests} requests in ${seconds.toFixed(0)} s, ${answered} answered, ${total.findings.length} findings`);
  const asked = episodes.length * requests;
  if (total.requests !== asked || answered !== asked)
    throw new Error(`${asked} requests were to be asked and answered`);
  process.exitCode = total.findings.length === 0 ? 0 : 1;
}

await (isMainThread ? main() : work(workerData as Share));
