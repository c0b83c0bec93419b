import { MutiraoError } from '@mutirao/api/errors';
import type { Duration } from '@mutirao/core/shared';
import { runTool, listWords, type ToolAnswer } from '../run-tool.ts';

/** Slurm's commands that are used. */
export type SlurmCommand = 'sbatch' | 'scancel' | 'scontrol' | 'sinfo' | 'squeue' | 'sacctmgr';

/** A listing of 100,000 jobs has some 10 MB. */
const outputBytesMax = 64 * 2 ** 20;

/** Calls Slurm's commands with a deadline, and with no more of our environment than they should have. */
export class SlurmCommands {
  readonly #deadlineMs: Duration;
  readonly #environment: Readonly<Record<string, string | undefined>>;
  readonly #closed = new AbortController();

  constructor(options: {
    readonly deadlineMs: Duration;
    readonly environment: Readonly<Record<string, string | undefined>>;
  }) {
    this.#deadlineMs = options.deadlineMs;
    this.#environment = withoutOurs(options.environment);
  }

  /** Runs a command to its end, whatever its status. @throws {MutiraoError} MUT_UNREACHABLE, see runTool. */
  run(command: SlurmCommand, args: readonly string[], input?: string): Promise<ToolAnswer> {
    return runTool({
      command,
      args,
      deadlineMs: this.#deadlineMs,
      outputBytesMax,
      signal: this.#closed.signal,
      // Listings print times in local time, without its zone; a job gets the user's own.
      env:
        command === 'sbatch' ? this.#environment : { ...this.#environment, TZ: 'UTC', SLURM_TIME_FORMAT: 'standard' },
      ...(input === undefined ? {} : { input }),
    });
  }

  /**
   * What a command that must go well wrote. @throws {MutiraoError} MUT_UNREACHABLE with its words when it ended with
   * another status than 0.
   */
  async read(command: SlurmCommand, args: readonly string[]): Promise<string> {
    const { status, stdout, stderr } = await this.run(command, args);
    if (status !== 0)
      throw new MutiraoError(
        'MUT_UNREACHABLE',
        `${command} ended with status ${status}: ${listWords(stderr === '' ? stdout : stderr)}`,
      );
    // With SLURM_CLUSTERS a listing begins with the name of its cluster.
    return stdout.replace(/^\s*CLUSTER: .*\n/, '');
  }

  /** Ends what runs; later calls fail. */
  close(): void {
    this.#closed.abort();
  }
}

/**
 * The environment of Slurm's commands, which a job inherits: ours without our own settings, without the defaults that
 * users set for their eyes, without that of a job that the provider itself runs in, and without what would change how
 * requests are submitted and found (the partition is named in each call).
 */
function withoutOurs(environment: Readonly<Record<string, string | undefined>>): Record<string, string | undefined> {
  const isKept = (name: string): boolean =>
    name === 'SLURM_CONF' ||
    name === 'SLURM_CLUSTERS' ||
    !/^(?:MUTIRAO|SLURM|SQUEUE|SINFO|SCANCEL|SRUN|SCONTROL)_|^SBATCH_(?:ARRAY_INX|CLUSTERS|ERROR|INPUT|JOB_NAME|OUTPUT|PARTITION|TIMELIMIT|WAIT)$/.test(
      name,
    );
  return Object.fromEntries(Object.entries(environment).filter(([name]) => isKept(name)));
}
