import { describeExactTime, plural } from '@mutirao/core/shared';

import type { Catalogue } from './catalogue.ts';
import { fromNow, roughly, rounded, span } from './numbers.ts';

/** A request that the heuristic proposes. */
interface Planned {
  readonly processors: number;
  readonly walltimeMs: number;
  readonly startMs: number;
  readonly expectedStartMs: number;
}

/** A request that `adaptive` compared. */
interface Compared {
  readonly processors: number;
  readonly walltimeMs: number;
  readonly startMs: number;
  readonly place: 'gap' | 'end';
  readonly tasksPerHour: number;
}

/** What the request heuristics say. */
export const requestSentences = {
  'no-pending-tasks': () => 'No task is pending.',
  'all-tasks-have-slots': () => 'Current allocations and pending requests already have room for every pending task.',
  'request-slots-taken': ({ slots, pendingRequests }) =>
    `No free request slot: ${slots} allowed, ${plural(pendingRequests, 'pending request')}.`,
  'request-slots-taken-nothing-free': ({ slots }) =>
    `No free request slot (${slots} allowed), and no processors are free now.`,
  'task-too-wide': ({ taskProcessors, requestProcessorsMax }) =>
    `A task needs ${plural(taskProcessors, 'processor')}, but one request may have at most ${requestProcessorsMax}.`,
  'walltime-below-granularity': ({ walltimeMsMax, granularityMs }) =>
    `The longest walltime, ${describeExactTime(walltimeMsMax)}, is shorter than the resource's granularity, ` +
    `${describeExactTime(granularityMs)}.`,

  'task-time-default': ({ taskMs, isCut }) =>
    `Assuming ${span(taskMs)} per task, the default before the first task finishes${cut(isCut)}.`,
  'task-time-from-longest-here': ({ taskMs, longestMs, completedTasks, isCut }) =>
    `Assuming ${span(taskMs)} per task: 1.1 times the longest, ${span(longestMs)}, of ` +
    `${plural(completedTasks, 'completed task')}${cut(isCut)}.`,
  'task-time-from-elsewhere': ({ taskMs, longestMs, completedTasks, isCut }) =>
    `Assuming ${span(taskMs)} per task: on other resources 99 % of ${plural(completedTasks, 'completed task')} took ` +
    `${span(longestMs)} or less, plus a tenth${cut(isCut)}.`,
  'task-time-from-idle-requests': ({ taskMs, idleMs, isCut }) =>
    `Assuming ${span(taskMs)} per task: twice the longest time, ${span(idleMs)}, that a request held processors ` +
    `without completing a task${cut(isCut)}.`,
  'task-time-median-elsewhere': ({ taskMs, completedTasks }) =>
    `Assuming ${span(taskMs)} per task, the median of ${plural(completedTasks, 'completed task')} on other resources.`,
  'task-time-learnt': ({ taskMs, longerTaskMs, completedTasks, longerRunningTasks }) => {
    const running =
      longerRunningTasks === 0 ? '' : ` and ${plural(longerRunningTasks, 'task')} that ran longer than the shortest`;
    const longer = longerTaskMs === undefined ? '' : `; up to ${span(longerTaskMs)} is possible`;
    return `Assuming ${span(taskMs)} per task, from ${plural(completedTasks, 'completed task')}${running}${longer}.`;
  },
  'task-time-unknown': ({ shortestMs, longestMs }) =>
    `Task run times are unknown: assuming ${span(shortestMs)} to ${span(longestMs)} per task.`,
  'task-time-outlasted': ({ shortestMs, longestMs, outlastedMs }) =>
    `Assuming ${span(shortestMs)} to ${span(longestMs)} per task: tasks have run for ${span(outlastedMs)} and none ` +
    'has finished.',

  'static-equal-shares': (reason) =>
    `Requesting ${plural(reason.requestProcessors, 'processor')} in each of ` +
    `${plural(reason.freeSlots, 'free request slot')}: equal shares of ${plural(reason.tasks, 'pending task')}` +
    `${reason.isPartOfDemand ? ' without a slot' : ''} at ${plural(reason.taskProcessors, 'processor')} each ` +
    `(${reason.slots} allowed, ${reason.pendingRequests} in use; at most ` +
    `${plural(reason.requestProcessorsMax, 'processor')} per request).`,
  'static-largest-width': ({ processors }) =>
    `Requesting the most that one request may have, ${plural(processors, 'processor')}, as configured.`,
  'static-longest-walltime': ({ walltimeMs }) =>
    `Requesting the longest walltime, ${describeExactTime(walltimeMs)}: this heuristic does not estimate task times.`,

  'initial-requests': ({ requests }) =>
    `Making ${plural(requests, 'request')}: free processors first, then requests for one task's run time.`,
  'initial-free-now': ({ processors, walltimeMs }) =>
    `${plural(processors, 'processor')} free now for ${span(walltimeMs)}: the widest slot that fits a task without ` +
    'waiting.',
  'initial-nothing-free': ({ processors, waitingRequests, requestProcessorsMax }) =>
    `No free slot fits a task. Requesting ${plural(processors, 'processor')} (${requestProcessorsMax} max / ` +
    `${plural(waitingRequests, 'waiting request')}) for one task's run time.`,

  'adaptive-choice': ({ chosenCandidates, candidates, gapCandidates, endCandidates, tasksPerHour }) =>
    `Chose ${chosenCandidates} of ${plural(candidates, 'candidate')} (${gapCandidates} in gaps of the queue, ` +
    `${endCandidates} at its end) for the highest joint throughput, ${rate(tasksPerHour)}.`,
  'adaptive-earliest-only': ({ requests, unplacedTasks }) =>
    `Requesting only the earliest ${requests}, which have room for the ${plural(unplacedTasks, 'task')} without a slot.`,
  'adaptive-chosen': (reason) => `Chosen: ${compared(reason)}.`,
  'adaptive-kept': ({ rank, candidates }) =>
    `Candidate ${rank} of ${candidates}: no exchange raised the joint throughput.`,
  'adaptive-exchanged': (reason) =>
    `Replaced ${compared(reason)}: the joint throughput rose from ${rate(reason.tasksPerHourBefore)} to ` +
    `${rate(reason.tasksPerHourAfter)}.`,
  'adaptive-narrowed': ({ processorsBefore, processors, pendingTasks, concurrentTasks }) =>
    `Narrowed from ${processorsBefore} to ${plural(processors, 'processor')}: ${plural(pendingTasks, 'task')} ` +
    `${pendingTasks === 1 ? 'is' : 'are'} pending, and the chosen requests could run ${concurrentTasks} at once.`,
  'mixed-largest-request': () =>
    'The first decision includes one request of the largest size, so that long tasks fit before run times are known.',

  'finish-expected-end': ({ pendingTasks, gangProcessors, endMs, taskMs }) => {
    const tasks = pendingTasks === 1 ? 'the task' : `all ${pendingTasks} tasks`;
    const work =
      gangProcessors !== undefined ? `all pending work, ${plural(pendingTasks, 'processor')} in total,` : tasks;
    return `Expected to finish ${work} in ${span(endMs)}, assuming ${span(taskMs)} per task.`;
  },
  'finish-no-better-request': () => 'No additional or replacement request would shorten this enough to be worth it.',
  'finish-queue-stale': () => 'Queue data is stale: using the last known state and keeping all current requests.',
  'finish-queue-hidden': () =>
    "The queue hides other users' requests: using what is visible and keeping all current requests.",
  'finish-no-backfill': () =>
    'Requests that would fit are still waiting, so this queue appears not to backfill; planning to start behind it.',
  'finish-last-request-unused': () =>
    'The last request was released before a task started in it: waiting for one to start before requesting more ' +
    'for tasks that may be cut off.',
  'finish-waits-for-similar-tasks': ({ waitMs }) =>
    `Waiting ${span(waitMs)} before changing requests: running tasks are about as old as the shortest completed one, ` +
    'so whether they take equally long shows by then.',
  'finish-earliest-completion': (reason) => `Earliest expected completion: ${planned(reason)}.`,
  'finish-replaced-by': (reason) => `Requested instead: ${planned(reason)}.`,
  'finish-released-for-better': () => 'Released: another request finishes the job much earlier.',
  'finish-withdrawn-for-better': () => 'Withdrawn: another request finishes the job much earlier.',
  'finish-withdrawn-too-wide': ({ processors, pendingTasks }) =>
    `Withdrawn: ${plural(processors, 'processor')}, far more than ${plural(pendingTasks, 'pending task')} can use.`,
} satisfies Partial<Catalogue>;

function cut(isCut: boolean): string {
  return isCut ? ', limited to the longest walltime' : '';
}

function rate(tasksPerHour: number): string {
  return `${rounded(tasksPerHour)} tasks/h`;
}

/** `4 processors for 5 min, starting in about 2 s (4 s at the latest)`. */
function planned({ processors, walltimeMs, startMs, expectedStartMs }: Planned): string {
  return `${plural(processors, 'processor')} for ${span(walltimeMs)}, ${starting(startMs, expectedStartMs)}`;
}

function starting(startMs: number, expectedStartMs: number): string {
  if (startMs === 0) return 'starting now';
  if (expectedStartMs >= startMs) return `starting within ${roughly(startMs)}`;
  const [expected, latest] = [roughly(expectedStartMs), roughly(startMs)];
  return expected === latest
    ? `starting in about ${expected}`
    : `starting in about ${expected} (${latest} at the latest)`;
}

/** `8 processors for 1 h in a gap of the queue, starting now, 8 tasks/h`. */
function compared({ processors, walltimeMs, startMs, place, tasksPerHour }: Compared): string {
  const where = place === 'gap' ? 'in a gap of the queue' : 'at the end of the queue';
  return `${plural(processors, 'processor')} for ${span(walltimeMs)} ${where}, starting ${fromNow(startMs)}, ${rate(tasksPerHour)}`;
}
