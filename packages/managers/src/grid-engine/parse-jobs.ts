import type { QueuedRequest } from '@mutirao/core/messages';
import type { Instant } from '@mutirao/core/shared';
import { childText, listElements, type XmlElement } from '../read-xml.ts';
import { unlimitedWalltime } from '../unlimited-walltime.ts';

/** Before the key in the names of our jobs: Grid Engine takes no name that begins with a digit. */
export const namePrefix = 'mutirao.';

/** One job, or one task of an array, as Grid Engine lists it. */
export interface GridEngineJob {
  /** `17`, or `17.3` of an array. */
  readonly id: string;
  /** With the key that its name holds as `clientRequestId`; empty for the job of somebody else, or of another name. */
  readonly request: QueuedRequest;
  /** It waits in an error state, which only its owner's or an operator's hand clears. */
  readonly isBroken: boolean;
}

/**
 * Reads what `qstat -r -g d -xml` wrote under `TZ=UTC`, in the order of arrival.
 *
 * @param user whose jobs are ours.
 * @returns a job that makes no sense: one that we overlook would count as gone.
 */
export function parseJobs(root: XmlElement, user: string): readonly GridEngineJob[] | string {
  const jobs: GridEngineJob[] = [];
  for (const element of listElements(root, 'job_list')) {
    const job = parseJob(element, user);
    if (job === undefined)
      return element.children
        .map(({ name, text }) => `${name} ${text}`)
        .join(', ')
        .slice(0, 200);
    jobs.push(job);
  }
  return inOrder(jobs);
}

function parseJob(element: XmlElement, user: string): GridEngineJob | undefined {
  const [number, task, state, slots] = [
    childText(element, 'JB_job_number'),
    childText(element, 'tasks'),
    childText(element, 'state'),
    childText(element, 'slots'),
  ];
  const isRunning = element.attributes['state'] === 'running';
  const [submittedAt, startsAt] = [
    parseInstant(childText(element, 'JB_submission_time')),
    parseInstant(childText(element, 'JAT_start_time')),
  ];
  if (!isJobOf(number, state, slots) || (isRunning ? startsAt : submittedAt) === 0) return undefined;
  const id = task === '' ? number : `${number}.${task}`;
  return {
    id,
    isBroken: !isRunning && state.includes('E'),
    request: {
      managerRequestId: id,
      userId: childText(element, 'JB_owner'),
      width: Number(slots),
      walltime: getWalltime(element),
      status: isRunning ? 'running' : 'queued',
      submittedAt,
      startsAt,
      endedAt: 0,
      endReason: '',
      clientRequestId: getKey(element, user),
      ...(!isRunning && /[hE]/.test(state) ? { isHeldBack: true as const } : {}),
    },
  };
}

function isJobOf(number: string, state: string, slots: string): boolean {
  return /^\d{1,15}$/.test(number) && /^[A-Za-z]{1,8}$/.test(state) && /^[1-9]\d{0,8}$/.test(slots);
}

/** The key in the name of a job that Mutirao submitted; empty for others. */
function getKey(element: XmlElement, user: string): string {
  const name = childText(element, 'full_job_name') || childText(element, 'JB_name');
  return childText(element, 'JB_owner') === user && childText(element, 'tasks') === '' && name.startsWith(namePrefix)
    ? name.slice(namePrefix.length)
    : '';
}

function getWalltime(element: XmlElement): number {
  const request = element.children.find(
    ({ name, attributes }) => name === 'hard_request' && attributes['name'] === 'h_rt',
  );
  return request !== undefined && /^[1-9]\d{0,9}$/.test(request.text) ? Number(request.text) * 1000 : unlimitedWalltime;
}

/** Reads an instant that a command wrote under `TZ=UTC`; 0 for anything else. */
export function parseInstant(text: string): Instant {
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?$/.test(text) ? Date.parse(`${text}Z`) || 0 : 0;
}

/** The number after which Grid Engine begins again with 1. */
const numberMax = 9_999_999;

/** Sorts jobs by their numbers, the only sign of arrival that running jobs are listed with. */
export function inOrder(jobs: readonly GridEngineJob[]): GridEngineJob[] {
  const numbers = jobs.map(({ id }) => Number.parseInt(id, 10));
  const [least, most] = [
    numbers.reduce((one, other) => Math.min(one, other), Infinity),
    numbers.reduce((one, other) => Math.max(one, other), 0),
  ];
  const hasWrapped = most - least > numberMax / 2;
  const ranks = new Map(
    jobs.map((job, index) => [
      job,
      (numbers[index] ?? 0) + (hasWrapped && (numbers[index] ?? 0) < numberMax / 2 ? numberMax : 0),
    ]),
  );
  return [...jobs].sort((one, other) => (ranks.get(one) ?? 0) - (ranks.get(other) ?? 0));
}
