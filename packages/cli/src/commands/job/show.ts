import type { Command } from 'commander';

import { readClaim, readCondition } from '@mutirao/api/codecs';
import type { DependencyCondition } from '@mutirao/core/messages';
import { plural } from '@mutirao/core/shared';
import type { GetJobResponse, JobSpec, JobSummary } from '@mutirao/api/broker';

import type { Act, CommandContext } from '../../context.ts';
import type { ExitStatus } from '../../exit-status.ts';
import { jobDetailsJson, schedulingJson, findTaskCount, verificationText } from '../../json/documents.ts';
import { jobStatusText } from '../../output/status-words.ts';
import { renderPairs } from '../../output/table.ts';
import { printResult } from '../../output/print-result.ts';
import { showBytes, showDuration, showInstant } from '../../output/units.ts';
import { resolveJobIds } from '../../selectors.ts';

export function define(command: Command, act: Act): void {
  command
    .argument('[jobs]', 'which jobs: 5, 1-10:2, last or all', 'last')
    .action((jobs: string) => act((context) => showJobs(context, jobs)));
}

/** Shows jobs one under the other. */
export async function showJobs(context: CommandContext, selector: string): Promise<ExitStatus> {
  const broker = await context.broker();
  const found: ShownJob[] = [];
  for (const jobId of await resolveJobIds(broker, selector)) {
    const answer = await broker.getJob({ jobId });
    const { job, spec } = answer;
    if (job !== undefined && spec !== undefined) found.push({ job, spec, answer });
  }
  printResult(context.output, {
    json: () => found.map(({ job, spec, answer }) => jobDetailsJson(job, spec, answer)),
    table: () =>
      found.flatMap((one, index) => [
        ...(index === 0 ? [] : ['']),
        ...jobPairs(one, context.clock.now()),
        ...troublePairs(one),
      ]),
    quiet: () => found.map(({ job }) => job.jobId),
  });
  return 0;
}

interface ShownJob {
  readonly job: JobSummary;
  readonly spec: JobSpec;
  readonly answer: GetJobResponse;
}

function troublePairs({ answer: { trouble = '' } }: ShownJob): string[] {
  return trouble === '' ? [] : renderPairs([['broker', trouble]]);
}

function jobPairs({ job, spec, answer }: ShownJob, now: number): string[] {
  const end = job.endedUnixMs === 0 ? now : job.endedUnixMs;
  return renderPairs([
    ['job', String(job.jobId)],
    ['label', job.label],
    ['user', job.userId],
    ['status', `${jobStatusText(job, now)}${job.cancelReason === undefined ? '' : `: ${job.cancelReason.text}`}`],
    ['submitted', showInstant(job.submittedUnixMs)],
    ['ended', job.endedUnixMs === 0 ? '' : showInstant(job.endedUnixMs)],
    ['time', showDuration(end - job.submittedUnixMs)],
    ['tasks', getCounts(job)],
    ['open', openText(job)],
    ['edges', edgesText(spec)],
    ['task times', timesText(answer)],
    ['remaining', remainingText(answer)],
    ['planned end', plannedText(answer)],
    ['replicas', `${job.replicaCount} so far, at most ${spec.replicasMax ?? 2} of a task at once`],
    ['verified', verifiedText(job, spec)],
    ['doubtful', doubtfulText(job)],
    ['scheduler', describeScheduling(spec)],
    ['site selection', describeSiteSelection(spec)],
    ['retries', `a task is given up after ${plural(spec.failuresMax ?? 3, 'failure')}`],
    ...(spec.memoryGrowth === undefined
      ? []
      : [['retry memory', `with ${spec.memoryGrowth} times the memory after exceeding it`] as const]),
    ...(spec.failedTasksMax === undefined ? [] : [['stops', `when ${spec.failedTasksMax} tasks have failed`] as const]),
    ...servicePairs(job),
    ['processors', `${spec.processors ?? 1} per task`],
    ['limits', findLimits(spec)],
    ['deadline', spec.deadlineUnixMs === undefined ? '' : showInstant(spec.deadlineUnixMs)],
    ['reservation', describeReservation(spec)],
    [
      'environment',
      Object.entries(spec.environment)
        .map(([name, value]) => `${name}=${value}`)
        .join(' '),
    ],
    ['folder', spec.homeDirectory],
    ...placePairs(spec),
    ...groupPairs(spec),
  ]);
}

function openText({ open = false, jobId }: JobSummary): string {
  return open ? `more tasks may be added until "mutirao job close ${jobId}"` : '';
}

/** Conditions on an awaited job, in words. */
const awaitedHas: Readonly<Record<DependencyCondition, string>> = {
  started: 'JOB has started or ended',
  ended: 'JOB has ended',
  succeeded: 'JOB has succeeded',
  failed: 'JOB has failed or was cancelled',
  each: 'the same tasks of JOB have finished',
};

function awaitedText({ awaited }: JobSummary): string {
  const jobs = awaited?.jobs ?? [];
  return jobs
    .map(({ jobId, condition }) => awaitedHas[readCondition(condition) ?? 'ended'].replace('JOB', `job ${jobId}`))
    .join(', ');
}

function servicePairs(job: JobSummary): (readonly [string, string])[] {
  const { priority, runningMax } = job;
  return [
    ['priority', priority === 0 ? '' : String(priority)],
    ['waits until', awaitedText(job)],
    ['begins', job.beginUnixMs === undefined ? '' : showInstant(job.beginUnixMs)],
    ['expires', job.expireUnixMs === undefined ? '' : showInstant(job.expireUnixMs)],
    ['running max', runningMax === undefined ? '' : `${plural(runningMax, 'task')} at once`],
  ];
}

function placePairs({ workFolder = '', gathering }: JobSpec): (readonly [string, string])[] {
  return [
    ['tasks start in', workFolder],
    ['gathered in', gathering?.folder ?? ''],
  ];
}

/** The reservation that the job was submitted into; whether it is over, `explain job` says. */
function describeReservation({ reservation }: JobSpec): string {
  if (reservation === undefined) return '';
  const { reservationId, resourceId, startsAt, endsAt, amount } = readClaim(reservation.claim);
  return (
    `${reservationId} of ${resourceId}: ${amount} processors from ${showInstant(startsAt)} until ` +
    `${showInstant(endsAt)}`
  );
}

function edgesText({ edges }: JobSpec): string {
  return edges.length === 0 ? '' : `${edges.length} between tasks`;
}

function timesText({ taskTimes }: GetJobResponse): string {
  if (taskTimes === undefined) return '';
  const { p50Ms, p90Ms, endedCount, cutOffCount } = taskTimes;
  const by = `by ${endedCount} that ended${cutOffCount === 0 ? '' : ` and ${cutOffCount} cut off`}`;
  if (p50Ms === undefined) return `not known, ${by}`;
  const most = p90Ms === undefined ? 'too many cut off to know more' : `nine tenths within ${showDuration(p90Ms)}`;
  return `half within ${showDuration(p50Ms)}, ${most}, ${by}`;
}

function remainingText({ slotCount = 0, remainingMsMin, remainingMsMax }: GetJobResponse): string {
  if (remainingMsMin === undefined || remainingMsMax === undefined) return '';
  const [least, most] = [showDuration(remainingMsMin), showDuration(remainingMsMax)];
  return (
    `${least === most ? least : `${least} to ${most}`}, with the ` +
    `${slotCount === 1 ? 'slot' : `${slotCount} slots`} that it has now`
  );
}

function plannedText({ plannedEndUnixMs }: GetJobResponse): string {
  return plannedEndUnixMs === undefined ? '' : showInstant(plannedEndUnixMs);
}

function verifiedText({ extraVoteCount, finishedCount }: JobSummary, spec: JobSpec): string {
  const text = verificationText(spec.verification);
  return text.includes(':') ? `by ${text}; ${extraVoteCount} further results for ${finishedCount} tasks` : text;
}

/** Results of a finished job that were left as they are. */
function doubtfulText({ doubtfulCount, doubtfulTaskIndexes, jobId }: JobSummary): string {
  if (doubtfulCount === 0) return '';
  const more = doubtfulCount > doubtfulTaskIndexes.length ? ' and more' : '';
  return (
    `${doubtfulCount} tasks rest on a machine that was caught later: ${doubtfulTaskIndexes.join(',')}${more}; ` +
    `submit them again where it matters ("mutirao task list ${jobId} ` +
    `${doubtfulTaskIndexes.slice(0, 3).join(',')}" shows them)`
  );
}

/** Empty where its user says nothing of it. */
function describeSiteSelection({ siteSelection = '' }: JobSpec): string {
  return siteSelection;
}

function describeScheduling(spec: JobSpec): string {
  const { scheduler, replication_budget: cap } = schedulingJson(spec);
  if (cap === 'none') return scheduler;
  return (
    `${scheduler}; ` +
    `${cap === 'idle' ? 'replicas only on processors that would idle anyway' : `replicas may cost ${cap} of what results took`}`
  );
}

/** A job's tasks by status, in words; statuses without tasks are left out. */
export function getCounts(job: JobSummary): string {
  const counts = [
    [job.finishedCount, 'finished'],
    [job.runningCount, 'running'],
    [job.dispatchedCount, 'dispatched'],
    [job.readyCount, 'ready'],
    [job.waitingCount - job.heldCount, 'waiting'],
    [job.heldCount, 'held'],
    [job.failedCount, 'failed'],
    [job.cancelledCount, 'cancelled'],
  ] as const;
  const reported = counts
    .filter(([count]) => count > 0)
    .map(([count, word]) => `${count} ${word}`)
    .join(', ');
  return `${job.taskCount}${reported === '' ? '' : `: ${reported}`}`;
}

function findLimits({ limits }: JobSpec): string {
  if (limits === undefined) return '';
  return [
    limits.runTimeMsMax === 0 ? '' : `time ${showDuration(limits.runTimeMsMax)}`,
    limits.memoryBytesMax === 0 ? '' : `memory ${showBytes(limits.memoryBytesMax)}`,
    limits.outputBytesMax === 0 ? '' : `output ${showBytes(limits.outputBytesMax)}`,
  ]
    .filter((part) => part !== '')
    .join(', ');
}

const groupsShownMax = 5;

function groupPairs(spec: JobSpec): (readonly [string, string])[] {
  const shown = spec.groups.slice(0, groupsShownMax).flatMap(
    (group) =>
      [
        [
          'command',
          `${group.noOp ? '(no-op)' : group.command}${spec.groups.length > 1 ? `   x${findTaskCount(group)}` : ''}`,
        ],
        ['requirements', group.requirements],
        ['check', group.check],
      ] as const,
  );
  return spec.groups.length <= groupsShownMax
    ? shown
    : [...shown, ['', `and ${spec.groups.length - groupsShownMax} more task groups`]];
}
