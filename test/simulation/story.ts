/** Tells a seed's story in a process of its own kind: twice for the hash, then shrunk to what still breaks the same promise. */
import { spawn } from 'node:child_process';
import type { Replacement } from './planted/bug.ts';

const TELLER = `${import.meta.dirname}/teller.ts`;
const LOADER = `${import.meta.dirname}/loader.ts`;

/** True where the seed breaks nothing and both runs have one hash. */
export function tellStory(seed: number, print: (line: string) => void, planted: Replacement[] = []): Promise<boolean> {
  const env = { ...process.env, SIMULATION_PLANTED: JSON.stringify(planted) };
  const child = spawn(process.execPath, ['--import', LOADER, '--disable-warning=DEP0204', TELLER, String(seed)], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  child.stdout.setEncoding('utf8').on('data', (text: string) => print(text.trimEnd()));
  return new Promise((resolve) => child.on('exit', (code) => resolve(code === 0)));
}
