import type { SubmitJobResponse } from '@mutirao/api/broker';
import { MutiraoError } from '@mutirao/api/errors';
import { reasonDocument } from '@mutirao/api/reasons';
import type { JobSpec } from '@mutirao/core/messages';
import type { Command } from 'commander';

import type { Act, CommandContext } from '../../context.ts';
import type { ExitStatus } from '../../exit-status.ts';
import { addAfterHelp } from '../../help/lay-out-help.ts';
import { jobJson, resumedJson } from '../../json/documents.ts';
import { printResult } from '../../output/print-result.ts';
import { followJob } from '../../watch/follow-job.ts';
import { dependencyOptionsGiven, readDependencies } from './dependency-options.ts';
import { handOver, readJob, type SubmitOptions } from './hand-over.ts';
import { addSubmitOptions } from './submit-options.ts';
import { addStandaloneOptions, refuseWithoutHere } from './standalone-options.ts';
import { reserveFor } from './inside-reservation.ts';
import { withdrawOwn } from './reserve-for-deadline.ts';
import { describeResumed } from './describe-resumed.ts';
import { describeBegin } from './service-options.ts';
import { describeCancelled, endLine, exitStatusOfJob, noteMissingFile } from './wait.ts';

export function define(command: Command, act: Act): void {
  addSubmitOptions(command);
  addStandaloneOptions(command);
  addAfterHelp(
    command,
    [],
    'Tasks start in an empty folder of their own: --put copies files and folders there, --get brings results ' +
      'home. In commands and paths, {} stands for the value of the task and {#} for its index, from 0.',
  );
  command
    .usage(
      '[options] [--array SELECTOR | --each-line FILE | --values A,B,C] -- COMMAND {}\n       mutirao job ' +
        'submit [options] FILE',
    )
    .argument(
      '[file]',
      'a job file (JDF) or a workflow (YAML, WfFormat, DAX, job XML); the format is found from its content',
    )
    .action((file: string | undefined, options: SubmitOptions) =>
      act(async (context) => {
        if (options.standalone === true && options.resume !== undefined)
          throw new MutiraoError(
            'MUT_BAD_REQUEST',
            '--resume cannot be used with --standalone: a broker that ends with its job has no earlier jobs',
          );
        if (options.standalone === true && options.open === true)
          throw new MutiraoError(
            'MUT_BAD_REQUEST',
            '--open cannot be used with --standalone: a broker that ends with its job would wait for more tasks',
          );
        const [dependency] = dependencyOptionsGiven(options).find(([, value]) => value !== undefined) ?? [];
        if (options.standalone === true && dependency !== undefined)
          throw new MutiraoError(
            'MUT_BAD_REQUEST',
            `${dependency} cannot be used with --standalone: a broker that ends with its job has no other jobs`,
          );
        if (options.standalone === true)
          return (await import('./submit-standalone.ts')).submitStandalone(context, file, options);
        refuseWithoutHere(options);
        return submitJob(context, file, options);
      }),
    );
}

/** Submits a job, and waits for its end where that is wanted. */
export async function submitJob(
  context: CommandContext,
  file: string | undefined,
  options: SubmitOptions,
): Promise<ExitStatus> {
  const stated = { ...readJob(context, file, options), ...(await readDependencies(context, options)) };
  const job = await reserveFor(context, stated, options);
  const { jobId, taskCount, resumed, warnings } = await handOverOrWithdraw(context, job, options);
  const begin = options.begin === undefined ? undefined : describeBegin(stated, context.clock.now());
  if (options.wait !== true && options.progress !== true) {
    const cancelled = await findCancelled(context, jobId, stated);
    printResult(context.output, {
      json: () => ({
        job_id: jobId,
        task_count: taskCount,
        resumed: resumed === undefined ? null : resumedJson(resumed),
        warnings: warnings.map(reasonDocument),
      }),
      table: () => [
        cancelled ??
          `Job ${jobId} is submitted with ${taskCount} ${taskCount === 1 ? 'task' : 'tasks'}. "mutirao job wait ` +
            `${jobId}" waits for it.`,
        ...(begin === undefined ? [] : [begin]),
        ...(options.open === true
          ? [`"mutirao job append ${jobId} -- COMMAND" adds tasks; it ends after "mutirao job close ${jobId}".`]
          : []),
        ...(resumed === undefined ? [] : describeResumed(resumed, taskCount)),
      ],
      quiet: () => [jobId],
    });
    return 0;
  }
  if (resumed !== undefined) for (const line of describeResumed(resumed, taskCount)) context.output.note(line);
  if (begin !== undefined) context.output.note(begin);
  const ended = await followJob(context, await context.broker(), { jobId, progress: options.progress === true });
  printResult(context.output, { json: () => jobJson(ended), table: () => [endLine(ended)], quiet: () => [jobId] });
  await noteMissingFile(context, ended);
  return exitStatusOfJob(ended);
}

/** Why tasks of a new job can never start: it waits for jobs that have already ended. */
async function findCancelled(
  context: CommandContext,
  jobId: number,
  { after = [] }: Pick<JobSpec, 'after'>,
): Promise<string | undefined> {
  if (after.length === 0) return undefined;
  const { job } = await (await context.broker()).getJob({ jobId });
  return job === undefined ? undefined : describeCancelled(job);
}

/** Hands a job over; what was reserved for it is given back where that fails. */
async function handOverOrWithdraw(
  context: CommandContext,
  job: JobSpec,
  options: SubmitOptions,
): Promise<SubmitJobResponse> {
  try {
    return await handOver(context, job, options);
  } catch (error) {
    await withdrawOwn(context, job, options);
    throw error;
  }
}
