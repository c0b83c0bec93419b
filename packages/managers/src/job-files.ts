import {
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { listWords } from './run-tool.ts';

/** Jobs whose files are kept though they are over. */
const keptMax = 50;
const tailBytes = 1024;
const kinds = ['log', 'job', 'process', 'end'] as const;

/**
 * What jobs wrote, and the scripts of those that are started by file, in a folder that their nodes see too. The newest
 * are kept.
 */
export class JobFiles {
  readonly #folder: string;

  /** @param folder absolute; made when it is not there. */
  constructor(folder: string) {
    this.#folder = folder;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  }

  /** The file for a job's output. */
  logPath(key: string): string {
    return join(this.#folder, `${key}.log`);
  }

  /** The last words of a job; empty when it wrote nothing, or where we do not see it. */
  lastWords(key: string): string {
    let file: number;
    try {
      file = openSync(this.logPath(key), 'r');
    } catch {
      return ''; // Not there: the job never began, or wrote it on a disk that is not ours.
    }
    try {
      const { size } = statSync(this.logPath(key));
      const bytes = Buffer.alloc(tailBytes);
      const length = readSync(file, bytes, 0, tailBytes, Math.max(0, size - tailBytes));
      return length === 0 ? '' : listWords(bytes.subarray(0, length).toString('utf8'));
    } finally {
      closeSync(file);
    }
  }

  /** Writes a program of a job, which only its owner can read, and answers its path. */
  writeProgram(key: string, kind: 'job' | 'process', text: string): string {
    const path = join(this.#folder, `${key}.${kind}`);
    writeFileSync(path, text, { mode: 0o700 });
    return path;
  }

  /** The file in which a job notes how it ended. */
  endingPath(key: string): string {
    return join(this.#folder, `${key}.end`);
  }

  /** What jobs noted of their ends, by key. */
  endings(): ReadonlyMap<string, string> {
    const endings = new Map<string, string>();
    for (const name of readdirSync(this.#folder).filter((one) => one.endsWith('.end'))) {
      const key = name.slice(0, -'.end'.length);
      try {
        endings.set(key, readFileSync(this.endingPath(key), 'utf8'));
      } catch {
        // It was removed just now.
      }
    }
    return endings;
  }

  /** Removes all but those of the newest jobs, and of jobs that wait or run, however old these are. */
  prune(alive: ReadonlySet<string>): void {
    const ages = new Map<string, number>();
    for (const name of readdirSync(this.#folder).filter((one) => kinds.some((kind) => one.endsWith(`.${kind}`)))) {
      const key = name.slice(0, name.lastIndexOf('.'));
      const at = statSync(join(this.#folder, name), { throwIfNoEntry: false })?.mtimeMs ?? 0;
      ages.set(key, Math.max(ages.get(key) ?? 0, at));
    }
    if (ages.size <= 2 * keptMax) return;
    const byAge = [...ages].sort(([, one], [, other]) => other - one);
    for (const [key] of byAge.slice(keptMax).filter(([one]) => !alive.has(one)))
      for (const kind of kinds) rmSync(join(this.#folder, `${key}.${kind}`), { force: true });
  }
}
