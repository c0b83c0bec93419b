import { randomUUID } from 'node:crypto';
import { resolve } from 'node:path';

import { Option, type Command } from 'commander';

import type { SubmitJobRequest, SubmitJobResponse } from '@mutirao/api/broker';
import { encodeJobSpec } from '@mutirao/api/codecs';
import { MutiraoError, registry } from '@mutirao/api/errors';
import type { JobSpec } from '@mutirao/core/messages';

import type { BrokerClient } from '../../client/broker-client.ts';
import type { Act, CommandContext } from '../../context.ts';
import type { ExitStatus } from '../../exit-status.ts';
import { jobJson } from '../../json/documents.ts';
import { tell } from '../../output/tell.ts';
import { followJob } from '../../watch/follow-job.ts';
import { readJobFile, readText } from './job-file.ts';
import { makeJob, overrideJob, taskOptionsGiven, type JobOptions, type TaskOptions } from './job-options.ts';
import { endLine, exitStatusOfJob } from './wait.ts';

/** Everything that `job submit` takes. */
export interface SubmitOptions extends JobOptions, Partial<TaskOptions> {
  readonly format?: string;
  readonly wait?: true;
  readonly progress?: true;
}

const collect = (value: string, former: readonly string[] = []): readonly string[] => [...former, value];

export function define(command: Command, act: Act): void {
  command
    .usage('[options] [--array SELECTOR | --each-line FILE | --values A,B,C] -- COMMAND {}\n       mutirao job submit [options] FILE')
    .argument('[file]', 'a job file (JDF); its format is told by its content')
    .option('--array <selector>', 'one task per number: 1-1000, 0-90:10, 1,3,5-8')
    .option('--each-line <file>', 'one task per line of a file ("-" is standard input)')
    .option('--values <list>', 'one task per value: a,b,c')
    .option('--put <src[:dst]>', 'file or folder that each task gets in its playpen; may hold {} and {#}', collect)
    .option('--store <src[:dst]>', 'the same, kept on the machine between tasks in $STORAGE', collect)
    .option('--get <src[:dst]>', 'file or folder to bring home after each task; may hold {} and {#}', collect)
    .option('--requirements <expression>', 'machines that will do: "os == linux && mem >= 2048"')
    .option('--check <command>', 'run at home after each task; status 0 accepts its result')
    .option('--label <text>', 'what to call the job')
    .option('--env <name=value>', 'an environment variable of the tasks', collect)
    .option('--processors <count>', 'processors that each task holds (default: 1)')
    .option('--replicas <count>', 'most replicas of one task at once (default: 2)')
    .option('--retries <count>', 'failures of a task that are forgiven (default: 2)')
    .option('--limit-time <duration>', 'end a replica after 90s, 1h30m, HH:MM:SS')
    .option('--limit-memory <size>', 'end a replica above 512MiB, 2GiB')
    .option('--limit-output <size>', 'end a replica that prints more')
    .option('--deadline <time>', 'when it should be done; providers ask for resources accordingly')
    .option('--no-op', 'machines answer at once and start nothing: measures the way there and back')
    .option('--wait', 'wait until the job has ended; the exit status tells how')
    .option('--progress', 'as --wait, with progress also where standard error is no terminal')
    .addOption(new Option('--format <name>', 'format of the file, whatever its content looks like').choices(['jdf']))
    .action((file: string | undefined, options: SubmitOptions) => act((context) => submitJob(context, file, options)));
}

/** Submits a job, and waits for its end where that is wanted. */
export async function submitJob(context: CommandContext, file: string | undefined, options: SubmitOptions): Promise<ExitStatus> {
  const job = overrideJob(readJob(context, file, options), options);
  const broker = await context.broker();
  const { jobId, taskCount } = await submitOnce(context, broker, { job: encodeJobSpec(job), clientJobId: randomUUID() });
  if (options.wait !== true && options.progress !== true) {
    tell(context.output, {
      json: () => ({ job_id: jobId, task_count: taskCount }),
      table: () => [`Job ${jobId} is submitted with ${taskCount} ${taskCount === 1 ? 'task' : 'tasks'}. "mutirao job wait ${jobId}" waits for it.`],
      quiet: () => [jobId],
    });
    return 0;
  }
  const ended = await followJob(context, broker, { jobId, progress: options.progress === true });
  tell(context.output, { json: () => jobJson(ended), table: () => [endLine(ended)], quiet: () => [jobId] });
  return exitStatusOfJob(ended);
}

function readJob(context: CommandContext, file: string | undefined, options: SubmitOptions): JobSpec {
  const taskOptions: TaskOptions = { ...options, op: options.op ?? true };
  const command = context.passedOn ?? [];
  if (file === undefined) {
    if (command.length === 0 && taskOptions.op) throw new MutiraoError('MUT_BAD_REQUEST', 'there is nothing to submit; want a job file, or a command after "--"');
    return makeJob(command, taskOptions, context.directory, (list) => readText(list === '-' ? '/dev/stdin' : resolve(context.directory, list)));
  }
  if (command.length > 0) throw new MutiraoError('MUT_BAD_REQUEST', `the file ${file} and a command after "--" are given; want one of them`);
  const given = taskOptionsGiven(taskOptions);
  if (given.length > 0) throw new MutiraoError('MUT_BAD_REQUEST', `${given.join(', ')} beside the file ${file}; the file itself says that`);
  return readJobFile(file, context.directory, context.output.note);
}

const attemptsMax = 3;
const retryMs = 300;

/** The key in the request makes a repeated submission the same job, so a broker that is just restarting is asked again. */
async function submitOnce(context: CommandContext, broker: BrokerClient, request: SubmitJobRequest): Promise<SubmitJobResponse> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await broker.submitJob(request);
    } catch (error) {
      if (!(error instanceof MutiraoError) || !registry[error.code].retryable || attempt === attemptsMax || context.signal.aborted) throw error;
      await context.sleep(retryMs);
    }
  }
}
