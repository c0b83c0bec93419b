import { setTimeout as sleep } from 'node:timers/promises';
import { Program, type ProgramName, type UnaskedEnd } from '../grid/program.ts';

/** Pause before a process that ended is started again, and before one that does not come up is tried again. */
const restartPause = 250;
const retryPauseMax = 2000;
const pollMs = 25;

/**
 * A program that is started again whenever it ends, at the address where it listened, as the supervisor of `mutirao up`
 * does it but with shorter pauses.
 */
export class KeptProgram {
  readonly name: string;
  /** Ends that nothing outside of the process explains, a line each. */
  readonly ownEnds: string[] = [];
  /** Times that it was started again. */
  restarts = 0;
  readonly #program: Program;
  readonly #log: (line: string) => void;
  #isKept = true;
  #heldUntil = 0;
  #keeping: Promise<void> | undefined;

  /** @param log is called for each end and each failed start. */
  constructor(
    program: {
      readonly name: string;
      readonly kind: ProgramName;
      readonly args: readonly string[];
      readonly logFile: string;
      readonly env: Readonly<Record<string, string>>;
    },
    log: (line: string) => void,
  ) {
    this.name = program.name;
    this.#program = new Program(program.kind, program.args, program.env, {
      logFile: program.logFile,
      onUnaskedEnd: (end) => {
        if (isOwnEnd(end))
          this.ownEnds.push(
            `${program.name} ended with ${end.signal ?? `status ${end.exitCode ?? 0}`}: ` +
              `${end.lastLines.at(-1) ?? 'its log is empty'}`,
          );
      },
    });
    this.#log = log;
  }

  /** Starts it for the first time, and keeps it from then on. @throws Error when it does not come up. */
  async start(): Promise<void> {
    await this.#program.start();
    this.#keeping = this.#keep();
  }

  get isRunning(): boolean {
    return this.#program.isRunning;
  }

  get address(): string {
    return this.#program.address;
  }

  /** Ends the program for good, and kills it if it does not end in time. Returns whether it ended by itself. */
  async stop(): Promise<boolean> {
    this.#isKept = false;
    await this.#keeping;
    try {
      await this.#program.kill('SIGTERM');
      return true;
    } catch {
      await this.#program.kill('SIGKILL');
      return false;
    }
  }

  /** Does not start it again for `forMs`. */
  holdOff(forMs: number): void {
    this.#heldUntil = performance.now() + forMs;
  }

  async #keep(): Promise<void> {
    for (let pause = restartPause; this.#isKept; ) {
      if (this.#program.isRunning || performance.now() < this.#heldUntil) {
        await sleep(pollMs);
        continue;
      }
      await sleep(pause);
      if (!this.#isKept) return;
      pause = (await this.#restart()) ? restartPause : Math.min(pause * 2, retryPauseMax);
    }
  }

  async #restart(): Promise<boolean> {
    this.restarts += 1;
    try {
      await this.#program.start();
      return true;
    } catch (error) {
      this.#log(`${this.name} did not come up: ${String(error).split('\n').at(-1) ?? ''}`);
      await this.#program.kill('SIGKILL');
      return false;
    }
  }
}

/**
 * Whether a process ended by its own doing: not where it was killed, nor where it could not begin since there was no
 * room on its disk.
 */
export function isOwnEnd({ signal, code, hadListened }: UnaskedEnd): boolean {
  if (signal === 'SIGKILL') return false;
  return code !== 'MUT_DISK_FULL' || hadListened;
}
