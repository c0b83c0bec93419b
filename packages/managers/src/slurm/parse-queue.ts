import type { QueuedRequest } from '@mutirao/core/messages';
import { unlimitedWalltime } from '../unlimited-walltime.ts';
import { parseInstant, parseWalltime } from './parse-time.ts';

/**
 * What `squeue` is asked to write of everybody's jobs: nothing that its owner can choose freely, so that a line is a
 * job.
 */
export const jobFormat = '%i|%u|%C|%l|%T|%V|%S|%e|%r';
/** What each of our own jobs begins with in a listing; a line of a job's name may look like a job. */
const jobMark = '<job>';

/**
 * What `squeue` is asked to write of our own jobs: the partition, of one that waits perhaps several, and the name,
 * which comes last since it may hold anything.
 */
export const ownJobFormat = `${jobMark}${jobFormat}|%P|%j`;

/** One job as Slurm lists it. */
export interface SlurmJob {
  /** `17`, `17_3` or `17_[4-9]` of an array, `17+1` of a job of several parts. */
  readonly id: string;
  /** With the name, when it was asked for, as `clientRequestId`. */
  readonly request: QueuedRequest;
  /** Slurm's word for why it waits or failed. */
  readonly reason: string;
  /** Where it is or may go to; none where that was not asked for. */
  readonly partitions: readonly string[];
  /** Its processes have ended, and Slurm does not say yet how: the epilog runs. */
  readonly isCompleting: boolean;
}

/** Jobs of a listing, in the order of arrival, or what makes it unfit for use. */
export type JobListing =
  | { readonly kind: 'jobs'; readonly jobs: readonly SlurmJob[] }
  | { readonly kind: 'garbage'; readonly line: string };

/**
 * Reads the output of `squeue` in `jobFormat`. One malformed line spoils it all: an overlooked job would count as gone.
 */
export function parseJobs(output: string): JobListing {
  return findListing(output.split('\n').filter((line) => line !== ''));
}

/** Reads what `squeue` wrote in `ownJobFormat`; a line without the mark goes on with the name before it. */
export function parseOwnJobs(output: string): JobListing {
  if (output.startsWith(jobMark))
    return findListing(output.replace(/\n$/, '').slice(jobMark.length).split(`\n${jobMark}`));
  // Wrappers of squeue that sites have may take the mark away.
  const records: string[] = [];
  for (const line of output.replace(/\n$/, '').split('\n')) {
    if (startsJob.test(line) || (records.length === 0 && line !== '')) records.push(line);
    else if (records.length > 0) records[records.length - 1] += `\n${line}`;
  }
  return findListing(records);
}

const startsJob = /^\d+[\w[\]+,%-]*\|/;

function findListing(records: readonly string[]): JobListing {
  const jobs: SlurmJob[] = [];
  for (const record of records) {
    const job = parseJob(record);
    if (job === undefined) return { kind: 'garbage', line: record.slice(0, 200) };
    jobs.push(job);
  }
  const byArrival = (one: SlurmJob, other: SlurmJob): number =>
    one.request.submittedAt - other.request.submittedAt || getNumber(one.id) - getNumber(other.id);
  return { kind: 'jobs', jobs: jobs.sort(byArrival) };
}

/** The number of a job, without the place in an array. */
function getNumber(id: string): number {
  return Number.parseInt(id, 10);
}

function parseJob(record: string): SlurmJob | undefined {
  // The fields of ownJobFormat; the last two are missing in jobFormat.
  const match =
    /^(\d+[\w[\]+,%-]*)\|([^|]*)\|(\d{1,9})\|([^|]*)\|([A-Z_]+)\|([^|]*)\|([^|]*)\|([^|]*)\|([^|]*)(?:\|([^|]*)\|(.*))?$/s.exec(
      record,
    );
  if (match === null) return undefined;
  const [id, userId, cpus, limit, state, submitted, starts, ends, reason, partitions, name] = match
    .slice(1)
    .map((field: string | undefined) => field ?? '') as unknown as Fields;
  const status = statusOf(state);
  const [submittedAt, startsAt, endsAt] = [parseInstant(submitted), parseInstant(starts), parseInstant(ends)];
  if (submittedAt === 0) return undefined;
  const ending =
    status === 'ended'
      ? {
          startsAt: hasRun(state, startsAt, endsAt) ? startsAt : 0,
          endedAt: endsAt,
          endReason: getEndReason(state, reason),
        }
      : {
          startsAt,
          endedAt: 0,
          endReason: '',
          ...(status === 'queued' && startsAt === 0 && !competes.test(reason) ? { isHeldBack: true as const } : {}),
        };
  const walltime = parseWalltime(limit) ?? unlimitedWalltime;
  return {
    id,
    reason,
    partitions: partitions.split(',').filter((one) => one !== ''),
    isCompleting: state === 'COMPLETING' && ending.endReason === '',
    request: {
      managerRequestId: id,
      userId,
      // Slurm lists one that it could never place with none.
      width: Math.max(1, Number(cpus)),
      walltime,
      status,
      submittedAt,
      clientRequestId: name,
      ...ending,
    },
  };
}

/**
 * Slurm's words for why a job waits that waits for processors, or was not looked at yet; all others are dependencies,
 * dates, holds, limits of users and accounts, and what is not there.
 */
const competes = /^(?:|None|Resources|Priority)$/;

type Fields = readonly [string, string, string, string, string, string, string, string, string, string, string];

const waiting = new Set([
  'PENDING',
  'CONFIGURING',
  'REQUEUED',
  'REQUEUE_FED',
  'REQUEUE_HOLD',
  'RESV_DEL_HOLD',
  'SPECIAL_EXIT',
]);
const held = new Set(['RUNNING', 'SUSPENDED', 'STOPPED', 'RESIZING', 'SIGNALING', 'STAGE_OUT', 'POWER_UP_NODE']);

/** A job that is completing has let go of its processes; how many processors are free is asked for apart. */
function statusOf(state: string): QueuedRequest['status'] {
  return waiting.has(state) ? 'queued' : held.has(state) ? 'running' : 'ended';
}

/** Slurm gives a job that was cancelled while it waited the instant of that as its start and its end. */
function hasRun(state: string, startsAt: number, endedAt: number): boolean {
  return state !== 'CANCELLED' || startsAt !== endedAt;
}

function getEndReason(state: string, reason: string): string {
  if (state === 'TIMEOUT' || reason === 'TimeLimit') return 'MUT_WALLTIME_ENDED';
  // One that is completing does not say otherwise that it failed.
  if (reason === 'NonZeroExitCode') return `FAILED, ${reason}`;
  if (state === 'COMPLETING') return '';
  return reason === '' || reason === 'None' ? state : `${state}, ${reason}`;
}

/** Slurm's reasons that no wait resolves: the job breaks a limit or asks for what the cluster lacks. */
const hopeless =
  /^(?:Partition(?:Time|Node)Limit|BadConstraints|(?:Account|QOS)NotAllowed|Invalid(?:Account|QOS)|(?:Assoc|QOS)Max\w+PerJob(?:Limit)?)$/;

/** Whether a job waits for what will never be, unless somebody changes the limits. */
export function isHopeless({ request, reason }: SlurmJob): boolean {
  return request.status === 'queued' && hopeless.test(reason);
}

/** Whether it is its width, or what each processor brings with it, that there never will be. */
export function isTooWide({ request, reason }: SlurmJob): boolean {
  return (
    request.status === 'queued' &&
    /^(?:PartitionNodeLimit|BadConstraints|(?:Assoc|QOS)Max(?:Cpu|Node|TRES|Mem)\w*PerJob(?:Limit)?)$/.test(reason)
  );
}
