import { MutiraoError } from '@mutirao/api/errors';
import type { Duration } from '@mutirao/core/shared';
import { runTool, listWords, type ToolAnswer } from '../run-tool.ts';

/** OAR's commands that are used. */
export type OarCommand = 'oarsub' | 'oardel' | 'oarstat' | 'oarnodes';

const outputBytesMax = 64 * 2 ** 20;

/** Calls OAR's commands with a deadline, and with no more of our environment than they should have. */
export class OarCommands {
  readonly #deadlineMs: Duration;
  readonly #environment: Readonly<Record<string, string | undefined>>;
  readonly #closed = new AbortController();

  constructor(options: {
    readonly deadlineMs: Duration;
    readonly environment: Readonly<Record<string, string | undefined>>;
  }) {
    this.#deadlineMs = options.deadlineMs;
    this.#environment = Object.fromEntries(
      Object.entries(options.environment).filter(([name]) => !/^(?:MUTIRAO|OAR)_/.test(name)),
    );
  }

  /**
   * Runs a command to its end, whatever its status.
   *
   * @param more variables that replace those of our environment.
   * @throws {MutiraoError} MUT_UNREACHABLE, see runTool, and where it could not reach the server.
   */
  async run(
    command: OarCommand,
    args: readonly string[],
    more: Readonly<Record<string, string>> = {},
  ): Promise<ToolAnswer> {
    const answer = await runTool({
      command,
      args,
      deadlineMs: this.#deadlineMs,
      hasStatusesOfItsOwn: true,
      outputBytesMax,
      signal: this.#closed.signal,
      env: { ...this.#environment, ...more },
    });
    if (answer.status !== 0 && isAway.test(answer.stdout + answer.stderr))
      throw new MutiraoError('MUT_UNREACHABLE', `${command}: ${saidBy(answer)}`);
    return answer;
  }

  /**
   * What a command that must go well wrote. @throws {MutiraoError} MUT_UNREACHABLE with its words when it ended with
   * another status than 0.
   */
  async read(command: OarCommand, args: readonly string[]): Promise<string> {
    const answer = await this.run(command, args);
    if (answer.status !== 0)
      throw new MutiraoError('MUT_UNREACHABLE', `${command} ended with status ${answer.status}: ${saidBy(answer)}`);
    return answer.stdout;
  }

  /** Deletes jobs that wait or run, and answers which it did not take, with its words. */
  async delete(ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const { status, stdout, stderr } = await this.run('oardel', ids);
    if (status === 0) return new Map();
    const words = `${stdout}\n${stderr}`;
    // Of a job that it does not know it says that we are not the right user.
    const answered = new Set([...words.matchAll(/(?:Deleting the job = |Cannot frag )(\d+)/g)].map(([, id]) => id));
    return new Map(ids.filter((id) => !answered.has(id)).map((id) => [id, `oardel: ${listWords(words)}`]));
  }

  /** Ends what runs; later calls fail. */
  close(): void {
    this.#closed.abort();
  }
}

/** The last words of a command. */
function saidBy({ stdout, stderr }: ToolAnswer): string {
  return listWords(stderr === '' ? stdout : stderr);
}

/** Why `oarsub` refused, without what it writes of every job. */
export function getRefusalWords({ stdout, stderr }: ToolAnswer): string {
  return listWords(`${stdout}\n${stderr}`.replaceAll(chatter, ''));
}

const chatter =
  /^(?:\[ADMISSION RULE\] (?:Modify|Set) .*|OAR_JOB_ID=.*|.*verify your request syntax.*|Reservation mode: .*)$/gm;

/** Words of commands that could not reach the server or its database. */
const isAway =
  /cannot (?:connect|contact)|could not connect|connection refused|database.*(?:failed|error)|DBI connect|cannot open DB|executor.*not running/i;
