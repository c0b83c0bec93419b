import { MutiraoError } from '@mutirao/api/errors';
import type { Duration } from '@mutirao/core/shared';
import { readXml, type XmlElement } from '../read-xml.ts';
import { runTool, listWords, type ToolAnswer } from '../run-tool.ts';

/** Grid Engine's commands that are used. */
export type GridEngineCommand = 'qsub' | 'qdel' | 'qstat' | 'qconf' | 'qrsub' | 'qrstat' | 'qrdel';

/** A job in XML has some 900 bytes. */
const outputBytesMax = 64 * 2 ** 20;

/** Calls Grid Engine's commands with a deadline, and with no more of our environment than they should have. */
export class GridEngineCommands {
  readonly #deadlineMs: Duration;
  readonly #environment: Readonly<Record<string, string | undefined>>;
  readonly #closed = new AbortController();

  constructor(options: {
    readonly deadlineMs: Duration;
    readonly environment: Readonly<Record<string, string | undefined>>;
  }) {
    this.#deadlineMs = options.deadlineMs;
    this.#environment = Object.fromEntries(
      Object.entries(options.environment).filter(([name]) => !/^MUTIRAO_/.test(name) && !ofJob.has(name)),
    );
  }

  /**
   * Runs a command to its end, whatever its status. @throws {MutiraoError} MUT_UNREACHABLE, see runTool, and where it
   * could not reach the master.
   */
  async run(command: GridEngineCommand, args: readonly string[], input?: string): Promise<ToolAnswer> {
    const answer = await runTool({
      command,
      args,
      deadlineMs: this.#deadlineMs,
      outputBytesMax,
      signal: this.#closed.signal,
      // Listings print times in local time, without its zone; a job gets the user's own. SGE_SINGLE_LINE keeps long
      // values in one line.
      env: command === 'qsub' ? this.#environment : { ...this.#environment, TZ: 'UTC', SGE_SINGLE_LINE: '1' },
      ...(input === undefined ? {} : { input }),
    });
    if (answer.status !== 0 && isAway.test(answer.stderr + answer.stdout))
      throw new MutiraoError('MUT_UNREACHABLE', `${command}: ${saidBy(answer)}`);
    return answer;
  }

  /**
   * What a command that must go well wrote. @throws {MutiraoError} MUT_UNREACHABLE with its words when it ended with
   * another status than 0.
   */
  async read(command: GridEngineCommand, args: readonly string[]): Promise<string> {
    const answer = await this.run(command, args);
    if (answer.status !== 0)
      throw new MutiraoError('MUT_UNREACHABLE', `${command} ended with status ${answer.status}: ${saidBy(answer)}`);
    return answer.stdout;
  }

  /**
   * As `read`, of a command that writes XML. @throws {MutiraoError} MUT_UNREACHABLE also when it wrote something else.
   */
  async readXml(command: GridEngineCommand, args: readonly string[]): Promise<XmlElement> {
    const output = await this.read(command, [...args, '-xml']);
    const root = readXml(output);
    if (root === undefined)
      throw new MutiraoError('MUT_UNREACHABLE', `${command} wrote something else than XML: ${listWords(output)}`);
    return root;
  }

  /** Ends what runs; later calls fail. */
  close(): void {
    this.#closed.abort();
  }
}

/** The last words of a command. */
export function saidBy({ stdout, stderr }: Pick<ToolAnswer, 'stdout' | 'stderr'>): string {
  return listWords(
    (stderr.trim() === '' ? stdout : stderr).replaceAll(/^Exiting\.$/gm, '').replaceAll(/^Unable to run job: /gm, ''),
  );
}

/** Words of a command that could not reach the master: what it did is unknown. */
const isAway =
  /commlib error|got (?:send|read|select) error|unable to (?:contact|send message to) qmaster|failed receiving gdi|error reading answer list|can't get (?:configuration|answer) from qmaster|cannot get connection to (?:"?qmaster|at host)/i;

/** Variables of a job that the provider itself runs in. */
const ofJob = new Set([
  'ENVIRONMENT',
  'JOB_ID',
  'JOB_NAME',
  'JOB_SCRIPT',
  'NHOSTS',
  'NQUEUES',
  'NSLOTS',
  'PE',
  'PE_HOSTFILE',
  'QUEUE',
  'REQNAME',
  'REQUEST',
  'RESTARTED',
  'SGE_TASK_FIRST',
  'SGE_TASK_ID',
  'SGE_TASK_LAST',
  'SGE_TASK_STEPSIZE',
]);
