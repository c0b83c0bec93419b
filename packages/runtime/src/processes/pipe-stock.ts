import { closeSync, constants, mkdirSync, openSync, rmSync, unlinkSync } from 'node:fs';
import path from 'node:path';
import { makeFifos } from './make-fifos.ts';

/** A pipe that we read. */
export interface ReadPipe {
  /** Its reading end, which never waits. */
  readonly file: number;
  /** What to open for writing into it. */
  readonly path: string;
}

/** Pipes that are made at once: each time costs a process. */
const batchSize = 16;

/**
 * Makes pipes, which Node cannot: FIFOs, opened by us and then unlinked.
 *
 * A process that holds an end of a pipe without a name can open it, and so can this user through our own descriptors in
 * /proc. No process finds it by a path that it remembered. So a shell opens it for writing, and the end of file shows
 * when no process holds it open any more.
 */
export class PipeStock {
  private readonly folder: string;
  private readonly names: string[] = [];
  private count = 0;
  /** False where Mutirao processes cannot open what we hold open: then each pipe keeps its name in the folder. */
  private hasProc = true;

  /** @param folder an existing one, nobody else's. @param count of pipes that are needed at once. */
  constructor(folder: string, count: number) {
    this.folder = folder;
    this.fill(count);
  }

  /** From now on pipes are opened by their names. */
  keepNames(): void {
    this.hasProc = false;
  }

  /** Makes a pipe that nobody else has open. @throws Error of the file system. */
  take(): ReadPipe {
    const { file, name } = this.open() ?? this.openFresh();
    if (!this.hasProc) return { file, path: name };
    unlinkSync(name);
    return { file, path: `/proc/${process.pid}/fd/${file}` };
  }

  /** Closes our end: a process that still writes into it gets SIGPIPE. */
  release({ file, path: name }: ReadPipe): void {
    closeSync(file);
    if (!this.hasProc) rmSync(name, { force: true });
  }

  /** Opens one that was made before; undefined when there is none, or somebody has removed them. */
  private open(): { file: number; name: string } | undefined {
    for (let name = this.names.pop(); name !== undefined; name = this.names.pop()) {
      try {
        return { file: openSync(name, constants.O_RDONLY | constants.O_NONBLOCK), name };
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      }
    }
    return undefined;
  }

  private openFresh(): { file: number; name: string } {
    mkdirSync(this.folder, { recursive: true, mode: 0o700 });
    this.fill(batchSize);
    const name = this.names.pop() ?? '';
    return { file: openSync(name, constants.O_RDONLY | constants.O_NONBLOCK), name };
  }

  private fill(count: number): void {
    const made = Array.from({ length: count }, () => path.join(this.folder, `pipe-${this.count++}`));
    makeFifos(made);
    this.names.push(...made);
  }
}
