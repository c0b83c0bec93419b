import { closeSync, openSync, writeFileSync } from 'node:fs';
import { MutiraoError } from '@mutirao/api/errors';
import { encodeTraceLine, type Beginning, type TracedMachine, type TraceLine } from '@mutirao/core/debugging-trace';
import type { Decision, Instant } from '@mutirao/core/shared';
import type { Logger } from '../log/index.ts';
import manifest from '../../package.json' with { type: 'json' };
import { systemTimers, type Timers } from './timers.ts';
import type { TurnTrace } from './turn-trace.ts';

/** What a trace is opened with. */
export interface TraceSetup {
  /** Empty for no trace. */
  readonly path: string;
  readonly machine: TracedMachine;
  /** When the process took over the state. */
  readonly at: Instant;
  /** Called once, at once, and only if a trace is written. */
  describe(): Beginning;
  readonly log: Pick<Logger, 'info' | 'warn'>;
  readonly timers?: Timers;
}

/** Longest time that the outcome of a turn waits for the inputs of the next, to be written together. */
const outcomeDelay = 100;
/** Traces of one path, one for each start of the process. */
const filesMax = 10_000;

/**
 * Opens a debugging trace and writes its head. A file that exists is left alone: `x.jsonl` becomes `x.2.jsonl`, and so
 * on, so that the trace of a process that died is still there after its restart.
 *
 * @returns undefined for an empty path. @throws {MutiraoError} MUT_BAD_CONFIG when no file can be made there.
 */
export function openTrace(setup: TraceSetup): TurnTrace | undefined {
  if (setup.path === '') return undefined;
  const { machine, at, log, timers = systemTimers } = setup;
  const { file, path } = createFile(setup.path);
  log.info({ trace: path }, 'writing a debugging trace');
  const trace = new TraceFile(file, { log, timers });
  trace.put(() => ({ kind: 'head', head: { machine, release: release(), at, ...setup.describe() } }), true);
  return trace;
}

function createFile(wanted: string): { file: number; path: string } {
  for (let number = 1; number <= filesMax; number++) {
    const path = number === 1 ? wanted : wanted.replace(/(\.[^./]*)?$/, `.${number}$1`);
    try {
      return { file: openSync(path, 'wx', 0o600), path };
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (code !== 'EEXIST')
        throw new MutiraoError('MUT_BAD_CONFIG', `--trace is ${wanted}: ${message}`, { cause: error });
    }
  }
  throw new MutiraoError(
    'MUT_BAD_CONFIG',
    `--trace is ${wanted}, and ${filesMax} such files exist; expected another name`,
  );
}

function release(): string {
  return manifest.version;
}

/**
 * Writes the turns of one driver, at once and one after the other: no more than a turn is ever held in memory, and the
 * inputs of a step that hangs or kills the process are in the file. A trace that cannot be written ends; the process
 * goes on.
 */
class TraceFile implements TurnTrace {
  readonly #log: Pick<Logger, 'warn'>;
  readonly #timers: Timers;
  #file: number | undefined;
  #waiting = '';
  #timer: unknown;

  constructor(file: number, { log, timers }: { readonly log: Pick<Logger, 'warn'>; readonly timers: Timers }) {
    this.#file = file;
    this.#log = log;
    this.#timers = timers;
  }

  begin(turn: number, now: Instant, inputs: readonly unknown[]): void {
    this.put(() => ({ kind: 'inputs', turn, now, inputs }), true);
  }

  conclude(turn: number, { changes, commands }: Decision<unknown, unknown>): void {
    this.put(() => ({ kind: 'outcome', turn, changes, commands }), false);
  }

  end(error: unknown): void {
    this.put(() => ({ kind: 'end', error: error === undefined ? '' : String(error) }), true);
    this.#close();
  }

  /** Writes a line, at once or soon. */
  put(make: () => TraceLine, isUrgent: boolean): void {
    if (this.#file === undefined) return;
    try {
      this.#waiting += encodeTraceLine(make());
      if (isUrgent) this.#flush();
      else
        this.#timer ??= this.#timers.start(outcomeDelay, () => {
          this.#flushLate();
        });
    } catch (error) {
      this.#giveUp(error);
    }
  }

  #flush(): void {
    if (this.#file === undefined) return;
    writeFileSync(this.#file, this.#waiting);
    this.#waiting = '';
  }

  #flushLate(): void {
    this.#timer = undefined;
    try {
      this.#flush();
    } catch (error) {
      this.#giveUp(error);
    }
  }

  #giveUp(error: unknown): void {
    this.#log.warn({ err: error }, 'cannot write the debugging trace; it ends here');
    this.#close();
  }

  #close(): void {
    if (this.#timer !== undefined) this.#timers.cancel(this.#timer);
    this.#timer = undefined;
    this.#waiting = '';
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
  }
}
