import type { GetJobResponse } from '@mutirao/api/broker';
import { encodeJobSpec } from '@mutirao/api/codecs';
import { MutiraoError } from '@mutirao/api/errors';
import type { JobSpec } from '@mutirao/core/messages';
import type { Duration } from '@mutirao/core/shared';
import { parseDuration } from '@mutirao/formats';

import type { BrokerClient } from '@mutirao/runtime/clients';

/** How long tasks are taken to last, and who says so. */
export interface TaskEstimate {
  /** Of most of them. */
  readonly usual: Duration;
  readonly longest: Duration;
  /** A phrase. */
  readonly source: string;
}

/** Jobs that are looked at for one like it, the newest first. */
const jobsMax = 20;
/** The tenth, say, that is asked for beyond the estimate, for estimates are wrong. */
const marginShare = 10;
/**
 * The least that is asked for beyond it on each processor: workers take a moment to come, which is more than all the
 * work of a bag of short tasks.
 */
const marginMin = 60_000;

/** Reads the task time that the user states. @throws {FormatError | MutiraoError} for an invalid time. */
export function readTaskTime(text: string | undefined): Duration | undefined {
  if (text === undefined) return undefined;
  const time = parseDuration(text);
  if (time <= 0) throw new MutiraoError('MUT_BAD_REQUEST', `--task-time is "${text}"; expected more than nothing`);
  return time;
}

/**
 * How long the tasks of a job take: as its user says, else as those of the newest job with the same label, or the same
 * commands, took.
 *
 * @param said what the user said; undefined for nothing.
 * @returns undefined where nobody knows.
 */
export async function estimateTasks(
  broker: BrokerClient,
  job: JobSpec,
  said: Duration | undefined,
): Promise<TaskEstimate | undefined> {
  if (said !== undefined) return { usual: said, longest: said, source: 'as you say' };
  const commands = listCommands(encodeJobSpec(job));
  const { jobs } = await broker.listJobs({ pageSize: jobsMax, beforeJobId: 0 });
  for (const { jobId, label } of jobs) {
    const reported = await broker.getJob({ jobId });
    const isAlike =
      job.label === '' ? reported.spec !== undefined && listCommands(reported.spec) === commands : label === job.label;
    const times = isAlike ? listTimes(reported) : undefined;
    if (times !== undefined) return { ...times, source: `as nine tenths of those of job ${jobId} did` };
  }
  return undefined;
}

/** Undefined where too little of the job has ended. */
function listTimes({ taskTimes }: GetJobResponse): Pick<TaskEstimate, 'usual' | 'longest'> | undefined {
  const { p90Ms: usual = 0, ninetyNinthMsMax: longest = 0 } = taskTimes ?? {};
  return usual === 0 ? undefined : { usual, longest: Math.max(usual, longest) };
}

function listCommands({ groups }: { readonly groups: readonly { readonly command: string }[] }): string {
  return JSON.stringify(groups.map(({ command }) => command));
}

/**
 * Processor time that a bag needs on at most that number of processors, whatever the order of its tasks, with a margin.
 *
 * @source Graham's bound for lists: with m places it lasts at most work / m + (1 - 1 / m) longest; times m.
 * Departs from the source: the usual time stands for the mean, and a tenth is added, of at least a minute of each
 * processor.
 */
export function estimateWork(taskCount: number, processors: number, { usual, longest }: TaskEstimate): Duration {
  const work = taskCount * usual + (processors - 1) * longest;
  return work + Math.max(Math.ceil(work / marginShare), processors * marginMin);
}
