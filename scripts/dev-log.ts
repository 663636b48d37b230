/** Where `npm run dev` puts what the Worker prints. */
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** A line of the Worker for the person at the terminal: an approval's link. */
const APPROVAL_LINK = /^Approval apr_/;

/** Takes each line into a new file; `print` gets all of them where `isShown`, and else only the links of approvals. */
export function keepLog(file: string, isShown: boolean, print: (line: string) => void): (line: string) => void {
  mkdirSync(dirname(file), { recursive: true });
  // Only this user may read the log: it holds approval links, and whoever has one can decide.
  writeFileSync(file, '', { mode: 0o600 });
  return (line) => {
    appendFileSync(file, `${line}\n`);
    if (isShown || APPROVAL_LINK.test(line)) print(line);
  };
}
