import { randomBytes } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { MutiraoError } from '@mutirao/api/errors';
import type { Duration } from '@mutirao/core/shared';
import { quoteWord, runCommand, type CommandResult } from '@mutirao/runtime/processes';
import { framing, readAnswer } from './answers.ts';
import { encodeScript } from './encode-script.ts';

/**
 * Command lines of the owner's, by which a machine is driven; /bin/sh runs them with `machine`, `command`, `localfile`
 * and `remotefile` in the environment.
 */
export interface TemplateTexts {
  /** Runs `$command` on `$machine` and brings its output. */
  readonly remExec: string;
  /** Copies `$localfile` here to `$remotefile` there. */
  readonly copyTo: string;
  /** Copies `$remotefile` there to `$localfile` here. */
  readonly copyFrom: string;
}

/** What templates need. */
export interface TemplatesOptions {
  readonly texts: TemplateTexts;
  /** What `$machine` stands for. */
  readonly machine: string;
  /** An existing folder of this host for files on their way. */
  readonly folder: string;
  /** A template that takes longer is killed, but for those of tasks. */
  readonly deadline: Duration;
  /** Pauses between attempts; as many more attempts as there are pauses. */
  readonly pauses: readonly Duration[];
}

/** What is special about a question. */
export interface AskOptions {
  readonly signal?: AbortSignal;
  /** One megabyte when left out. */
  readonly outputBytesMax?: number;
  /** Asked once, and answered with undefined where no answer came; no deadline. */
  readonly isTask?: boolean;
}

/** Longest command for an environment and for a program's argument, which the system bounds at 128 KiB. */
const commandMax = 100_000;
const longest = 2 ** 31 - 1;

/** Runs the templates of one machine: asks scripts, and copies files whose names on the machine are ours and plain. */
export class Templates {
  private readonly options: TemplatesOptions;
  private readonly environment: Readonly<Record<string, string | undefined>>;
  private scriptCount = 0;
  /** Folder of the machine for scripts that are too long for a command; empty until it is known. */
  scriptFolder = '';

  constructor(options: TemplatesOptions) {
    this.options = options;
    const own = Object.entries(process.env).filter(([name]) => !name.startsWith('MUTIRAO_'));
    this.environment = { ...Object.fromEntries(own), machine: options.machine };
  }

  /**
   * Has the machine run a script and returns its answer.
   *
   * The script may run again where no answer came. @throws {MutiraoError} MUT_TEMPLATE_FAILED when none came at last.
   */
  async ask(script: string, options: AskOptions = {}): Promise<Buffer> {
    for (let attempt = 0; ; attempt++) {
      const { answer, result } = await this.askOnce(script, options);
      if (answer !== undefined) return answer;
      await this.pauseOrThrow('remExec', result, { attempt, signal: options.signal });
    }
  }

  /**
   * Has the machine run a script that must not run twice; undefined where no answer came. @throws {MutiraoError}
   * MUT_TEMPLATE_FAILED when it could not be sent.
   */
  async askTask(script: string, options: AskOptions): Promise<Buffer | undefined> {
    return (await this.askOnce(script, { ...options, isTask: true })).answer;
  }

  /** Copies a file of this host to the machine. @throws {MutiraoError} MUT_TEMPLATE_FAILED */
  async copyTo(localfile: string, remotefile: string): Promise<void> {
    await this.copy('copyTo', { localfile, remotefile });
  }

  /** Copies a file of the machine to this host. @throws {MutiraoError} MUT_TEMPLATE_FAILED */
  async copyFrom(remotefile: string, localfile: string): Promise<void> {
    await this.copy('copyFrom', { localfile, remotefile });
  }

  private async askOnce(
    script: string,
    { signal, outputBytesMax, isTask = false }: AskOptions,
  ): Promise<{ answer: Buffer | undefined; result: CommandResult }> {
    const token = `mutirao-${randomBytes(8).toString('hex')}`;
    const command = await this.getCommand(framing(token) + script);
    const result = await this.run(
      'remExec',
      { command },
      {
        outputBytesMax: (outputBytesMax ?? 1024 * 1024) + 64 * 1024,
        deadlineMs: isTask ? longest : this.options.deadline,
        ...(signal === undefined ? {} : { signal }),
      },
    );
    return { answer: readAnswer(result.stdout, token), result };
  }

  /** A script as a command line; one that is too long goes there as a file. */
  private async getCommand(script: string): Promise<string> {
    const command = encodeScript(script);
    if (command.length <= commandMax || this.scriptFolder === '') return command;
    const name = String(++this.scriptCount);
    const local = path.join(this.options.folder, `script-${name}`);
    writeFileSync(local, script, { mode: 0o600 });
    try {
      await this.copyTo(local, `${this.scriptFolder}/${name}`);
    } finally {
      rmSync(local, { force: true });
    }
    return encodeScript(`exec /bin/sh ${quoteWord(`${this.scriptFolder}/${name}`)}`);
  }

  private async copy(
    template: 'copyTo' | 'copyFrom',
    files: { readonly localfile: string; readonly remotefile: string },
  ): Promise<void> {
    for (let attempt = 0; ; attempt++) {
      const result = await this.run(template, files, { deadlineMs: this.options.deadline });
      if (result.status === 0) return;
      await this.pauseOrThrow(template, result, { attempt, signal: undefined });
    }
  }

  /**
   * Nothing of a value is split or globbed, quoted in the template or not: no word is split where no character does so.
   * Variables reach also shells that a
   * template starts, so that nothing is ever pasted into a command line.
   */
  private run(
    template: keyof TemplateTexts,
    variables: Readonly<Record<string, string>>,
    limits: Pick<Parameters<typeof runCommand>[0], 'deadlineMs' | 'outputBytesMax' | 'signal'>,
  ): Promise<CommandResult> {
    return runCommand({
      command: '/bin/sh',
      args: ['-c', `IFS=; set -f\n${this.options.texts[template]}`],
      env: { ...this.environment, ...variables },
      cwd: this.options.folder,
      ...limits,
    });
  }

  private async pauseOrThrow(
    template: keyof TemplateTexts,
    result: CommandResult,
    { attempt, signal }: { readonly attempt: number; readonly signal: AbortSignal | undefined },
  ): Promise<void> {
    const pause = this.options.pauses[attempt];
    if (pause === undefined || signal?.aborted === true) throw getFailure(template, this.options.machine, result);
    await new Promise((resolve) => {
      setTimeout(resolve, pause);
    });
  }
}

function getFailure(
  template: string,
  machine: string,
  { status, stderr, startError, isTimedOut, stdout }: CommandResult,
): MutiraoError {
  const words = `${stderr.toString()}\n${startError}`.trim().split('\n').slice(-3).join(' ').slice(-400);
  const end = isTimedOut
    ? 'took too long'
    : 'ended with status ' +
      `${status}${template === 'remExec' && status === 0 ? ' and without the answer of the command' : ''}`;
  const said =
    words !== ''
      ? `: ${words}`
      : stdout.length > 0 && template === 'remExec'
        ? `; it wrote ${JSON.stringify(stdout.toString().slice(0, 80))}`
        : ', and said nothing';
  return new MutiraoError('MUT_TEMPLATE_FAILED', `${template} for ${machine} ${end}${said}`);
}
