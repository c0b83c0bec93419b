import type { QueuedRequest } from '@mutirao/core/messages';
import type { Duration, Instant, ProcessorCount } from '@mutirao/core/shared';
import { unlimitedWalltime } from '../unlimited-walltime.ts';

/** Before the key in the names of our jobs. */
export const namePrefix = 'mutirao.';

type Entry = Readonly<Record<string, unknown>>;

const waiting: ReadonlySet<string> = new Set(['Waiting', 'Hold', 'toLaunch', 'toAckReservation', 'Launching']);
const starting: ReadonlySet<string> = new Set(['toLaunch', 'Launching']);
const running: ReadonlySet<string> = new Set(['Running', 'Suspended', 'Resuming']);
const over: ReadonlySet<string> = new Set(['toError', 'Finishing', 'Terminated', 'Error']);

/** A job that waits or runs. */
export interface OarJob {
  readonly request: QueuedRequest;
  readonly name: string;
  /** The command that it was submitted by. */
  readonly submission: string;
  /** Whether it holds resources for jobs inside it. */
  readonly isContainer: boolean;
  /** The id of the job that it runs inside of; empty for none. */
  readonly container: string;
  /** OAR has chosen its resources, and starts it now. */
  readonly isStarting: boolean;
}

/**
 * Reads what `oarstat -J --full` wrote, in the order of arrival; what makes no sense is returned as it is: a job that
 * we overlook would count as gone.
 */
export function parseJobs(output: string, user: string): readonly OarJob[] | string {
  const entries = listEntries(output);
  if (entries === undefined) return output;
  const jobs: OarJob[] = [];
  for (const entry of entries) {
    const state = String(entry['state']);
    if (over.has(state)) continue;
    const request = findRequest(entry, state, user);
    if (request === undefined) return JSON.stringify(entry).slice(0, 200);
    const [name, submission] = [findText(entry['name']), findText(entry['initial_request'])];
    jobs.push({ request, name, submission, isStarting: starting.has(state), ...nestingOf(entry) });
  }
  return jobs.sort((one, other) => idOf(one) - idOf(other));
}

function idOf({ request }: OarJob): number {
  return Number(request.managerRequestId);
}

function nestingOf({ types }: Entry): Pick<OarJob, 'isContainer' | 'container'> {
  const texts = Array.isArray(types) ? types.map(String) : [];
  const [, container = ''] = /(?:^|\n)inner=(\d+)(?:\n|$)/.exec(texts.join('\n')) ?? [];
  return { isContainer: texts.includes('container'), container };
}

/**
 * Jobs as a queue in which no resource counts twice: of a container that runs, what the jobs that run inside leave of
 * it. Of other people's, those that wait for room inside a container are left out, since nobody outside waits with them.
 */
export function findQueue(jobs: readonly OarJob[]): QueuedRequest[] {
  const usedInside = new Map<string, ProcessorCount>();
  for (const { request, container } of jobs) {
    if (container === '' || request.status !== 'running') continue;
    usedInside.set(container, (usedInside.get(container) ?? 0) + request.width);
  }
  return jobs.flatMap(({ request, isContainer, container }) => {
    if (container !== '' && request.status === 'queued' && request.clientRequestId === '') return [];
    const width = request.width - (isContainer ? (usedInside.get(request.managerRequestId) ?? 0) : 0);
    return width <= 0 ? [] : [{ ...request, width }];
  });
}

/** Our requests that wait inside a container which ends before they could: OAR never starts them. */
export function findOutlasting(jobs: readonly OarJob[], now: Instant): QueuedRequest[] {
  const ends = new Map(
    jobs
      .filter(({ isContainer, request }) => isContainer && request.status === 'running')
      .map(({ request }) => [request.managerRequestId, request.startsAt + request.walltime]),
  );
  return jobs
    .filter(
      ({ container, request, isStarting }) =>
        request.status === 'queued' &&
        !isStarting &&
        request.clientRequestId !== '' &&
        now + request.walltime > (ends.get(container) ?? Infinity),
    )
    .map(({ request }) => request);
}

function findRequest(entry: Entry, state: string, user: string): QueuedRequest | undefined {
  const [id, submitted] = [entry['Job_Id'], entry['submissionTime']].map(wholeNumber);
  const isRunning = running.has(state);
  if (!(isRunning || waiting.has(state)) || id === undefined || submitted === undefined) return undefined;
  const startsAt = startOf(entry, isRunning);
  return {
    managerRequestId: String(id),
    userId: findText(entry['owner']),
    width: findWidth(entry),
    walltime: getWalltime(entry),
    status: isRunning ? 'running' : 'queued',
    submittedAt: submitted * 1000,
    startsAt,
    endedAt: 0,
    endReason: '',
    clientRequestId: getKey(entry, user),
    ...(!isRunning && startsAt === 0 && state === 'Hold' ? { isHeldBack: true as const } : {}),
  };
}

/** When it started, or is planned to; 0 for neither. */
function startOf({ startTime, scheduledStart }: Entry, isRunning: boolean): number {
  return (wholeNumber(isRunning ? startTime : scheduledStart) ?? 0) * 1000;
}

/** The requested walltime stands in for one that the scheduler has not set yet. */
function getWalltime({ walltime, wanted_resources: wanted }: Entry): Duration {
  const [, hours = '', minutes = '0', seconds = '0'] =
    /,walltime=(\d{1,7}):(\d{1,2})(?::(\d{1,2}))?/.exec(findText(wanted)) ?? [];
  const asked = hours === '' ? 0 : (Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds);
  const known = wholeNumber(walltime) ?? asked;
  return known === 0 ? unlimitedWalltime : known * 1000;
}

/** The key in the name of a job that Mutirao submitted; empty for others. */
function getKey(entry: Entry, user: string): string {
  const name = findText(entry['name']);
  return entry['owner'] === user && name.startsWith(namePrefix) ? name.slice(namePrefix.length) : '';
}

/**
 * Of a job that its scheduler has looked at OAR says how many resources it asks for; of others what they asked for is
 * counted, where it is in numbers.
 */
function findWidth({ assigned_resources: assigned, message, wanted_resources: wanted }: Entry): ProcessorCount {
  if (Array.isArray(assigned) && assigned.length > 0) return assigned.length;
  const reported = wholeNumber(/(?:^|[ ,])R=(\d+)/.exec(findText(message))?.[1]) ?? 0;
  return reported > 0 ? reported : Math.max(1, countWanted(findText(wanted)));
}

/** `-l "{type = 'default'}/nodes=2/core=4+/licence=1,walltime=0:2:30"` are 2 times 4 and 1. */
function countWanted(wanted: string): ProcessorCount {
  const groups = wanted
    .replaceAll(/\{[^}]*\}/g, '')
    .replace(/,walltime=.*/s, '')
    .split('+');
  return groups.reduce(
    (sum, group) =>
      sum +
      [...group.matchAll(/=(\d{1,6})/g)].reduce(
        (product, [, count]) => product * Number(count),
        /=\d/.test(group) ? 1 : 0,
      ),
    0,
  );
}

/**
 * Reads what `oarnodes -J` wrote: resources that jobs can have now, and all that are not gone for good. Undefined for
 * something else.
 */
export function parseResources(
  output: string,
): { readonly alive: ProcessorCount; readonly known: ProcessorCount } | undefined {
  const resources = listEntries(output)?.filter(({ type }) => type === 'default');
  if (resources === undefined || resources.some(({ state }) => typeof state !== 'string')) return undefined;
  const alive = resources.filter(({ state, drain }) => state === 'Alive' && drain !== 'YES').length;
  return { alive, known: resources.filter(({ state }) => state !== 'Dead').length };
}

/** The entries of an object; an empty output has none. */
function listEntries(output: string): readonly Entry[] | undefined {
  if (output.trim() === '') return [];
  try {
    const value: unknown = JSON.parse(output);
    if (typeof value !== 'object' || value === null) return undefined;
    const entries: unknown[] = Object.values(value);
    return entries.every((entry) => typeof entry === 'object' && entry !== null) ? (entries as Entry[]) : undefined;
  } catch {
    return undefined;
  }
}

function wholeNumber(value: unknown): number | undefined {
  return (typeof value === 'number' || typeof value === 'string') && /^\d{1,15}$/.test(String(value))
    ? Number(value)
    : undefined;
}

/** Seconds as `oarsub` reads a walltime. */
export function formatSpan(seconds: number): string {
  return `${Math.floor(seconds / 3600)}:${Math.floor(seconds / 60) % 60}:${seconds % 60}`;
}

function findText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
