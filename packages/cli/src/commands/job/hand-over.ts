import { randomUUID } from 'node:crypto';
import { resolve } from 'node:path';

import type { SubmitJobResponse } from '@mutirao/api/broker';
import { encodeJobSpec } from '@mutirao/api/codecs';
import { MutiraoError, registry } from '@mutirao/api/errors';
import type { JobSpec } from '@mutirao/core/messages';

import type { CommandContext } from '../../context.ts';
import { resolveJobId } from '../../selectors.ts';
import { UsageError } from '../../usage/usage-error.ts';
import type { StandaloneOptions } from './standalone-options.ts';
import type { InsideOptions } from './inside-reservation.ts';
import { describeSuspicions, refuseMisread } from './check-submission.ts';
import { readJobFile, readStandardInput, readText, refuseScriptAt } from './job-file.ts';
import { makeJob, overrideJob, taskOptionsGiven, type JobOptions, type TaskOptions } from './job-options.ts';

/** Everything that `job submit` takes. */
export interface SubmitOptions extends JobOptions, Partial<TaskOptions>, StandaloneOptions, InsideOptions {
  readonly format?: string;
  readonly taskCommand?: string;
  readonly replaceCommands?: true;
  /** A job, or true for the latest with the same label. */
  readonly resume?: string | true;
  readonly wait?: true;
  readonly progress?: true;
}

/** Submits a job that was read. */
export async function handOver(
  context: CommandContext,
  job: JobSpec,
  { resume }: Pick<SubmitOptions, 'resume'> = {},
): Promise<SubmitJobResponse> {
  refuseTooLarge(job);
  const broker = await context.broker();
  const resumes =
    resume === undefined ? {} : { resumesJobId: resume === true ? 0 : await resolveJobId(broker, resume) };
  const request = { job: encodeJobSpec(job), clientJobId: randomUUID(), ...resumes };
  const response = await callPatiently(context, () => broker.submitJob(request));
  for (const { text } of response.warnings) context.output.note(`warning: ${text}`);
  return response;
}

/** All values of a job, in bytes; the rest of the message needs room too. */
const valuesBytesMax = 192 * 1024 * 1024;

/** A job with more would not go through, however often it is tried. */
function refuseTooLarge({ groups }: JobSpec): void {
  const bytes = groups.reduce(
    (sum, { values }) =>
      sum + (values.kind === 'list' ? values.values.reduce((all, value) => all + Buffer.byteLength(value), 0) : 0),
    0,
  );
  if (bytes <= valuesBytesMax) return;
  throw new MutiraoError(
    'MUT_BAD_REQUEST',
    `the values of the job have ${bytes} bytes; expected at most ${valuesBytesMax}. Submit it in parts, or put ` +
      'the list into a file (--put) and have each task of --array take its own line from it: sed -n "{}p"',
  );
}

/**
 * Reads the job to submit; options override what a file says. @throws {FormatError | MutiraoError} for
 * what is wrong with it.
 */
export function readJob(context: CommandContext, file: string | undefined, options: SubmitOptions): JobSpec {
  return overrideJob(readBag(context, file, options), options, {
    directory: context.directory,
    now: context.clock.now(),
  });
}

function readBag(context: CommandContext, file: string | undefined, options: SubmitOptions): JobSpec {
  const taskOptions: TaskOptions = { ...options, op: options.op ?? true };
  const command = context.passedOn ?? [];
  refuseMisread({ file, command, array: options.array, directory: context.directory });
  if (file === undefined) return readCommand(context, command, { options, taskOptions });
  const given = taskOptionsGiven(taskOptions);
  if (given.length > 0) refuseScriptAt(file, context.directory);
  if (given.length > 0)
    throw new MutiraoError(
      'MUT_BAD_REQUEST',
      `${given.join(', ')} cannot be used with the file ${file}, which states this itself`,
    );
  return readJobFile(
    file,
    { directory: context.directory, taskCommand: options.taskCommand, replaceCommands: options.replaceCommands },
    context.output.note,
  );
}

function readCommand(
  context: CommandContext,
  command: readonly string[],
  { options, taskOptions }: { readonly options: SubmitOptions; readonly taskOptions: TaskOptions },
): JobSpec {
  if (command.length === 0 && taskOptions.op) {
    if (options.open !== true || taskOptionsGiven(taskOptions).length > 0) throw nothingToSubmit(taskOptions);
    return { ...makeJob(['true'], taskOptions, context.directory, () => ''), groups: [] };
  }
  const job = makeJob(command, taskOptions, context.directory, (list) =>
    list === '-' ? readStandardInput() : readText(resolve(context.directory, list)),
  );
  for (const sentence of describeSuspicions(job, {
    command,
    directory: context.directory,
    isInPlace: options.inPlace === true || options.chdir !== undefined,
  }))
    context.output.note(`warning: ${sentence}`);
  return job;
}

function nothingToSubmit(options: TaskOptions): UsageError {
  const hasValues = [options.array, options.eachLine, options.values].some((given) => given !== undefined);
  return new UsageError('there is nothing to submit; expected a job file, or a command after "--"', {
    rewrite: (words) => [...words.filter((word) => word !== '--'), '--', 'COMMAND', ...(hasValues ? ['{}'] : [])],
  });
}

const attemptsMax = 3;
const retryMs = 300;

/**
 * Makes a call again while the broker is just restarting. The call carries a key, so that it takes effect once.
 */
export async function callPatiently<T>(context: CommandContext, call: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await call();
    } catch (error) {
      if (
        !(error instanceof MutiraoError) ||
        !registry[error.code].retryable ||
        attempt === attemptsMax ||
        context.signal.aborted
      )
        throw error;
      await context.sleep(retryMs);
    }
  }
}
