import { resolve } from 'node:path';

import { TaskStatus, type JobSummary } from '@mutirao/api/broker';
import { MutiraoError } from '@mutirao/api/errors';
import type { JobSpec } from '@mutirao/core/messages';
import { mutiraoHome } from '@mutirao/runtime/files';

import type { BrokerClient } from '@mutirao/runtime/clients';
import type { CommandContext } from '../../context.ts';
import type { ExitStatus } from '../../exit-status.ts';
import { hasCluster } from '../../grid/addresses.ts';
import { closeHereHome, listAbandoned, openHereHome, type HereHome } from '../../grid/here-home.ts';
import { runHere } from '../../grid/run-here.ts';
import { jobJson } from '../../json/documents.ts';
import { printResult } from '../../output/print-result.ts';
import { explainMissingFile } from '../../watch/explain-missing-file.ts';
import { followJob, type FollowOptions } from '../../watch/follow-job.ts';
import { reportWaiting } from '../../watch/report-waiting.ts';
import { fetchTasks, taskTable } from '../task/list.ts';
import { printOutputs } from '../task/output.ts';
import { handOver, readJob, type SubmitOptions } from './hand-over.ts';
import { readPatience, readSite } from './standalone-options.ts';
import { jobOptionsGiven, taskOptionsGiven } from './job-options.ts';
import { fetchJobs } from './list.ts';
import { endSentence, exitStatusOfJob } from './wait.ts';

/** What `submit` takes, and the option of all commands that decides here whether the job outlives the command. */
export interface SubmitStandaloneOptions extends SubmitOptions {
  readonly home?: string;
  readonly broker?: string;
}

/** Failed tasks that are listed; their home folder may be removed afterwards. */
const failedShownMax = 10;

/**
 * Runs one job with a grid of its own, and ends all of that: the requests that wait, the allocations that run, the
 * processes.
 *
 * In a home folder that the user gave, an interrupted job continues if no job is given.
 */
export async function submitStandalone(
  context: CommandContext,
  file: string | undefined,
  options: SubmitStandaloneOptions,
): Promise<ExitStatus> {
  if (options.broker !== undefined)
    throw new MutiraoError(
      'MUT_BAD_REQUEST',
      '--broker cannot be used with --standalone, which starts a broker of its own',
    );
  refuseReserving(options);
  if (options.taskOutput === true && context.output.mode !== 'table')
    throw new MutiraoError('MUT_BAD_REQUEST', '--task-output cannot be used with --json or --quiet');
  const usualHome = options.home === undefined ? context.home : mutiraoHome();
  const site = readSite(options, findClusterHome(context, options, usualHome), process.env['PATH']);
  const job = readNewJob(context, file, options);
  reportAbandoned(context, usualHome);
  const home = openHereHome(options.home === undefined ? undefined : context.home, usualHome);
  const inner = context.at(home.path);
  let ended: JobSummary | undefined;
  try {
    await runHere(inner, site, async () => {
      try {
        ended = await runJob(inner, { job, home, options });
      } catch (error) {
        if (context.signal.aborted) context.output.note('Interrupted: withdrawing requests and ending allocations ...');
        throw error;
      }
    });
  } catch (error) {
    throw context.signal.aborted ? interrupted(home, error) : error;
  } finally {
    await closeHereHome(home, {
      output: context.output,
      sleep: (delay) => context.sleep(delay).catch(() => undefined),
    });
  }
  if (ended === undefined) throw interrupted(home, undefined);
  return exitStatusOfJob(ended);
}

/** Where the named cluster has started: in the home folder that the user gave, else in the default one. */
function findClusterHome({ home }: CommandContext, { cluster }: SubmitStandaloneOptions, usualHome: string): string {
  return cluster !== undefined && hasCluster(home, cluster) ? home : usualHome;
}

function refuseReserving({ reservation, taskTime }: SubmitOptions): void {
  if (typeof reservation !== 'string' && taskTime === undefined) return;
  throw new MutiraoError(
    'MUT_BAD_REQUEST',
    `${taskTime === undefined ? '--reservation' : '--task-time'} cannot be used with --standalone, which has no ` +
      'reservation manager; use a grid that is running',
  );
}

/** The job of the command line; undefined if it has none and the interrupted job continues. */
function readNewJob(
  context: CommandContext,
  file: string | undefined,
  options: SubmitStandaloneOptions,
): JobSpec | undefined {
  const isEmpty = file === undefined && context.passedOn === undefined && options.op !== false;
  if (!isEmpty || options.home === undefined) return readJob(context, file, options);
  const given = [...taskOptionsGiven({ ...options, op: true }), ...jobOptionsGiven(options)];
  if (given.length > 0)
    throw new MutiraoError(
      'MUT_BAD_REQUEST',
      `${given.join(', ')} without a job; what was interrupted in ${context.home} goes on as it was submitted`,
    );
  return undefined;
}

function reportAbandoned({ output }: CommandContext, usualHome: string): void {
  for (const path of listAbandoned(usualHome)) {
    output.note(
      `${path} is from a submission that was killed: "mutirao job submit --standalone --home ${path}" ` +
        'continues it; remove the folder to discard it.',
    );
  }
}

interface Run {
  readonly job: JobSpec | undefined;
  readonly home: HereHome;
  readonly options: SubmitStandaloneOptions;
}

async function runJob(context: CommandContext, { job, home, options }: Run): Promise<JobSummary> {
  const broker = await context.broker();
  const jobId = await chooseJob(context, broker, { job, home });
  const ended = await followReporting(context, broker, {
    jobId,
    progress: options.progress === true,
    unreachableMax: readPatience(options.standalonePatience),
  });
  if (options.taskOutput === true) await printOutputs(context, { job: String(jobId), tasks: 'all' }, {});
  if (ended.failedCount > 0) await reportFailures(context, broker, ended);
  printResult(context.output, { json: () => jobJson(ended), table: () => [endSentence(ended)], quiet: () => [jobId] });
  return ended;
}

/** Nobody else watches the provider, so this prints what keeps the job from starting. */
async function followReporting(
  context: CommandContext,
  broker: BrokerClient,
  job: FollowOptions & { readonly unreachableMax: number },
): Promise<JobSummary> {
  let isOver = false;
  let givenUp = '';
  const giveUp = new AbortController();
  const report = reportWaiting(context, broker, {
    jobId: job.jobId,
    unreachableMax: job.unreachableMax,
    isOver: () => isOver,
    onUnreachable: (reason) => {
      givenUp = reason;
      giveUp.abort();
    },
  });
  try {
    return await followJob({ ...context, signal: AbortSignal.any([context.signal, giveUp.signal]) }, broker, job);
  } catch (error) {
    throw givenUp === ''
      ? error
      : new MutiraoError(
          'MUT_UNREACHABLE',
          `${givenUp} This lasted ${Math.round(job.unreachableMax / 1000)} s, and no task has started.`,
          { cause: error },
        );
  } finally {
    isOver = true;
    await report;
  }
}

/**
 * Submits the job, or finds the one to go on with. @throws {MutiraoError} MUT_BAD_REQUEST where both are there, or
 * neither.
 */
async function chooseJob(
  context: CommandContext,
  broker: BrokerClient,
  { job, home }: Pick<Run, 'job' | 'home'>,
): Promise<number> {
  const [interruptedJob] = home.isTemporary
    ? []
    : await fetchJobs(broker, { status: 'running', max: 1, now: context.clock.now() });
  if (job === undefined) {
    if (interruptedJob === undefined)
      throw new MutiraoError(
        'MUT_BAD_REQUEST',
        `there is nothing to submit, and no interrupted job in ${home.path}; expected a job file, or a command ` +
          'after "--"',
      );
    context.output.note(
      `Continuing job ${interruptedJob.jobId}: ${interruptedJob.finishedCount} of ${interruptedJob.taskCount} ` +
        'tasks have finished.',
    );
    return interruptedJob.jobId;
  }
  if (interruptedJob !== undefined) {
    throw new MutiraoError(
      'MUT_BAD_REQUEST',
      `${home.path} holds job ${interruptedJob.jobId}, which was interrupted with ${interruptedJob.finishedCount} of ` +
        (`${interruptedJob.taskCount} tasks finished. Submit no other job there: give none, to continue it, or use ` +
          'another --home'),
    );
  }
  return (await handOver(context, job)).jobId;
}

/** Prints why tasks failed, while the broker still runs. */
async function reportFailures({ output, clock }: CommandContext, broker: BrokerClient, job: JobSummary): Promise<void> {
  const { found, more } = await fetchTasks(
    broker,
    { jobId: job.jobId, taskIndexes: [], status: TaskStatus.FAILED },
    failedShownMax,
  );
  for (const line of taskTable(found, false, clock.now())) output.note(line);
  for (const { taskIndex } of found) {
    const { standardError } = await broker.getTaskOutput({ jobId: job.jobId, taskIndex });
    const last = Buffer.from(standardError).toString('utf8').trimEnd().split('\n').at(-1) ?? '';
    if (last !== '') output.note(`task ${taskIndex}: ${last.slice(0, 200)}`);
  }
  const missing = await explainMissingFile(broker, job);
  if (missing !== undefined) output.note(missing);
  if (more) output.note(`${job.failedCount - found.length} more tasks failed.`);
}

function interrupted({ isTemporary, path }: HereHome, cause: unknown): MutiraoError {
  const rest = isTemporary
    ? 'its temporary home folder is removed; with --home FOLDER it could go on'
    : `"mutirao job submit --standalone --home ${resolve(path)}" goes on with it`;
  return new MutiraoError('MUT_CANCELLED', `the job was interrupted; ${rest}`, { cause });
}
