import { closeSync, mkdirSync, openSync, readdirSync, readSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { wordsOf } from '../run-tool.ts';

/** Logs that are kept. */
const keptMax = 50;
const tailBytes = 1024;

/** What jobs wrote, one file for each, in a folder that their nodes see too. The newest are kept. */
export class JobLogs {
  readonly #folder: string;

  /** @param folder absolute; made when it is not there. */
  constructor(folder: string) {
    this.#folder = folder;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  }

  /** Where a job is to write. */
  pathOf(key: string): string {
    return join(this.#folder, `${key}.log`);
  }

  /** The last words of a job; empty when it wrote nothing, or where we do not see it. */
  lastWords(key: string): string {
    let file: number;
    try {
      file = openSync(this.pathOf(key), 'r');
    } catch {
      return ''; // Not there: the job never began, or wrote it on a disk that is not ours.
    }
    try {
      const { size } = statSync(this.pathOf(key));
      const bytes = Buffer.alloc(tailBytes);
      const length = readSync(file, bytes, 0, tailBytes, Math.max(0, size - tailBytes));
      return length === 0 ? '' : wordsOf(bytes.subarray(0, length).toString('utf8'));
    } finally {
      closeSync(file);
    }
  }

  /** Removes all but the newest. */
  prune(): void {
    const logs = readdirSync(this.#folder).filter((name) => name.endsWith('.log'));
    if (logs.length <= 2 * keptMax) return;
    const byAge = logs.map((name) => ({ name, at: statSync(join(this.#folder, name), { throwIfNoEntry: false })?.mtimeMs ?? 0 })).sort((one, other) => other.at - one.at);
    for (const { name } of byAge.slice(keptMax)) rmSync(join(this.#folder, name), { force: true });
  }
}
