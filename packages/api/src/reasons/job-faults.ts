import { describeSlot } from '@mutirao/core/resources';
import { describeExactTime, plural } from '@mutirao/core/shared';

import type { Catalogue } from './catalogue.ts';
import { span, suggest } from './numbers.ts';

/** Why a job, a request to a resource or another call is refused. */
export const jobFaults = {
  'job-not-found': ({ jobId }) => `there is no job ${jobId} of yours`,
  'job-has-ended': ({ jobId }) => `job ${jobId} has ended; "mutirao job retry ${jobId}" runs again what did not finish`,
  'machine-not-found': ({ machineId }) => `there is no machine ${machineId}`,
  'provider-not-found': ({ providerId }) =>
    `the broker uses no provider ${providerId}; "mutirao provider list" shows all`,
  'provider-connected': ({ providerId }) =>
    `provider ${providerId} is connected; stop its process first, or use "mutirao provider drain ${providerId}"`,
  'machine-record-not-found': ({ machineId }) => `there is no trust record of a machine ${machineId}`,
  'request-not-found': ({ requestId }) => `there is no request ${requestId}`,
  'disk-full': () => 'no space is left on the disk',

  'job-number-out-of-range': ({ field, value, least, most, groupIndex }) =>
    `${group(groupIndex)}${field} is ${value}; expected an integer in ${least}..${most}`,
  'job-scheduler-unknown': ({ scheduler, nearest, names }) =>
    `scheduler is ${JSON.stringify(scheduler)}; ${suggest(nearest, names)}`,
  'job-without-groups': () => 'the job has no task groups; expected at least one',
  'job-group-without-tasks': ({ groupIndex, tasks }) =>
    `task group ${groupIndex} has ${tasks} tasks; expected at least one`,
  'job-tasks-too-many': ({ tasks, tasksMax }) => `the job has ${tasks} tasks; expected at most ${tasksMax}`,
  'job-edges-tasks-too-many': ({ tasks, tasksMax }) =>
    `the job has ${tasks} tasks; expected at most ${tasksMax} where tasks wait for each other`,
  'job-gang-width-differs': ({ groupIndex, processorsMin, processorsMax, jobProcessors }) =>
    `${group(groupIndex)}a task of a gang takes ${processorsMin} to ${processorsMax} processors; expected the ` +
    `${jobProcessors} of its job`,
  'job-dependencies-too-many': ({ jobs, jobsMax }) =>
    `the job waits for ${jobs} jobs; expected at most ${jobsMax}. Let an intermediate job wait for some of them`,
  'job-dependency-unknown': ({ awaitedId }) =>
    `the job waits for job ${awaitedId}, and you have no job ${awaitedId}; "mutirao job list" shows all`,
  'job-dependency-twice': ({ awaitedId, condition }) =>
    `the job waits for job ${awaitedId} twice (${condition}); expected once`,
  'job-dependency-unequal': ({ awaitedId, tasks, awaitedTasks }) =>
    `each task waits for the task with the same index in job ${awaitedId}, but this job has ${plural(tasks, 'task')} and ` +
    `that one ${awaitedTasks}; expected equal numbers, and neither job open`,
  'job-expires-before-begin': ({ beginUnixMs, expireUnixMs }, { instant }) =>
    `the job expires at ${instant(expireUnixMs)}, and begins at ${instant(beginUnixMs)}; expected it to expire after it begins`,
  'forget-open-job': ({ jobId }) =>
    `job ${jobId} has not ended; expected an ended job. "mutirao job cancel ${jobId}" ends it`,
  'forget-job-on-machines': ({ jobId, runningTasks }) =>
    `job ${jobId} has ended, and machines are still ending ${plural(runningTasks, 'task')} of it; try again later`,
  'job-values-invalid': ({ groupIndex, first, step }) =>
    `${group(groupIndex)}the values begin at ${first} in steps of ${step}; expected integers, and a step other than 0`,
  'job-value-with-nul': ({ groupIndex }) =>
    `${group(groupIndex)}a value contains a NUL character, which no command can take`,
  'job-command-empty': ({ groupIndex }) => `${group(groupIndex)}the command is empty; expected a line for the shell`,
  'job-command-with-nul': ({ groupIndex }) => `${group(groupIndex)}the command contains a NUL character`,
  'job-command-unsafe': ({ groupIndex, field, cause }, { say }) => `${group(groupIndex)}${field}: ${say(cause)}`,
  'job-requirements-unreadable': ({ groupIndex, cause }, { say }) => `${group(groupIndex)}${say(cause)}`,
  'job-path-outside': ({ groupIndex, path, root }) =>
    `${group(groupIndex)}the path "${path}" leaves the ${root}; expected one that stays in it`,

  'alternatives-with-gang': ({ groupIndex }) =>
    `${group(groupIndex)}a gang takes no alternatives; remove --gang, or the alternatives`,
  'alternatives-with-scheduler': ({ groupIndex, scheduler }) =>
    `${group(groupIndex)}scheduler is ${scheduler}, which does not place alternatives; expected wqr or workqueue`,
  'alternative-repeated': ({ groupIndex, alternative, first }) =>
    `${group(groupIndex)}alternative ${alternative} asks for the same as ` +
    `${first === 0 ? 'the first request' : `alternative ${first}`}; expected a different request`,
  'gang-with-votes': ({ verification }) =>
    `verification is by ${verification}, but the results of gangs are not voted on; expected a check, or none`,
  'job-closed': ({ jobId, status }) =>
    `job ${jobId} takes no more tasks: it is ${status} and not open; expected a job that is open`,
  'append-without-key': () => 'append_key is empty; expected one that is the same when the call is repeated',
  'append-key-reused': ({ key, firstTaskIndex, tasks, tasksGiven }) =>
    `append_key ${key} added ${plural(tasks, 'task')} from task ${firstTaskIndex} on, and now comes with ` +
    `${tasksGiven}; expected the same tasks`,
  'appends-too-many': ({ jobId, appendsMax }) =>
    `tasks were appended to job ${jobId} ${appendsMax} times; expected more tasks at once, or another job`,
  'append-groups-too-many': ({ jobId, groups, groupsMax }) =>
    `job ${jobId} would have ${groups} task groups; expected at most ${groupsMax}: more tasks in a group, or another job`,
  'open-job-with-edges': ({ edges }) =>
    `the job is open and has ${plural(edges, 'edge')}; expected edges in jobs that have all their tasks from the start`,
  'open-job-with-gathering': () =>
    'the job is open and gathers its outputs in archives, which are written for all tasks; expected one of the two',
  'gang-with-replicas': ({ replicasMax }) =>
    `replicas_max is ${replicasMax}, but a gang runs once at a time; expected --replicas 1`,
  'gang-with-plan': () => 'scheduler is plan, which plans tasks of one machine; expected another one for gangs',
  'gang-without-command': ({ groupIndex }) =>
    `task group ${groupIndex} does nothing (no-op); expected a command for its gangs`,
  'verification-without-check': ({ groupIndex }) =>
    `verification is by check, but task group ${groupIndex} has no check; expected a check for every task, or ` +
    'another verification',
  'verification-without-results': ({ groupIndex, verification }) =>
    `verification is by ${verification}, but task group ${groupIndex} does nothing (no-op); expected tasks with results`,
  'verification-votes-invalid': ({ votes, votesMax }) =>
    `verification is vote:${votes}; expected an integer in 1..${votesMax}`,
  'verification-credibility-invalid': ({ threshold }) =>
    `verification is credibility:${threshold}; expected a number above 0 and below 1, such as 0.99`,
  'verification-credibility-unreachable': ({ threshold, thresholdMax, votesMax }) =>
    `verification is credibility:${threshold}; expected at most ${thresholdMax}, which ${votesMax} unknown machines ` +
    'reach when all agree',
  'site-selection-with-plan': ({ siteSelection }) =>
    `site_selection is ${siteSelection}, but scheduler is plan, which chooses machines itself; expected one of the two`,
  'site-selection-with-reservation': ({ siteSelection }) =>
    `site_selection is ${siteSelection}, but the job has a reservation, which says where it runs; expected one of the two`,
  'site-selection-with-votes': ({ siteSelection, verification }) =>
    `site_selection is ${siteSelection}, but verification is by ${verification}, which needs machines of several owners; ` +
    'expected one of the two',
  'site-selection-strategy-unknown': ({ text, nearest, names }) =>
    `"${text}" begins with no strategy; ` +
    (nearest === undefined
      ? `expected one of ${names.join(', ')}, then ":" and a number in 0..1 or "adaptive"`
      : `do you mean ${nearest}?`),
  'site-selection-admissibility-invalid': ({ text, admissibility }) =>
    `"${text}" has the admissibility "${admissibility}"; expected a number in 0..1, or "adaptive"`,

  'workflow-expected-time-invalid': ({ groupIndex, expectedMs }) =>
    `expected_time_ms of task group ${groupIndex} is ${expectedMs}; expected a number, 0 or more`,
  'workflow-input-without-edge': (reason) => `${reading(reason)}, but no edge leads from there`,
  'workflow-input-not-written': (reason) => `${reading(reason)}, which has no such output`,
  'workflow-input-conditional': (reason) =>
    `${reading(reason)}, whose outputs depend on the machine that it runs on; expected outputs without conditions`,
  'workflow-input-archived': (reason) =>
    `${reading(reason)}, which goes into an archive; expected an output without a place at home`,
  'resumption-order-invalid': ({ taskIndex, previousIndex, tasks }) =>
    `task ${taskIndex} is reused after task ${previousIndex}; expected ascending indexes below ${tasks}`,
  'resumption-incomplete': ({ taskIndex, predecessorIndex }) =>
    `task ${taskIndex} is reused and task ${predecessorIndex}, which it waits for, is not; expected both`,
  'retry-task-unknown': ({ taskIndex, jobId, taskIndexMax }) =>
    `task ${taskIndex} of job ${jobId}; expected an index in 0..${taskIndexMax}`,
  'retry-leaves-failed-tasks': ({ jobId, failedTasks, failedTasksMax }) =>
    `job ${jobId} would still have ${plural(failedTasks, 'failed task')}, and its limit (--failures-max) stops it at ` +
    `${failedTasksMax}; expected to leave fewer: retry the failed tasks too`,

  'job-reservation-ended': ({ reservationId, endedMs }) => `reservation ${reservationId} ended ${span(endedMs)} ago`,
  'job-reservation-is-share': ({ reservationId }) =>
    `reservation ${reservationId} is a share of a capacity; a job needs one of processors`,
  'job-reservation-single-processors': ({ reservationId, processors }) =>
    `a task needs ${processors} processors; the machines inside reservation ${reservationId} have one each`,
  'job-reservation-too-small': ({ reservationId, processors, reservedProcessors }) =>
    `a gang needs ${processors} processors; reservation ${reservationId} is of ${reservedProcessors}`,
  'job-reservation-unavailable': ({ reservationId }) =>
    `reservation ${reservationId} is over, or its resource refuses it`,

  'provider-id-invalid': ({ providerId }) =>
    `provider id "${providerId}"; expected up to 100 letters, digits, ".", "-" and "_", and not "." or ".."`,
  'provider-address-empty': () => 'the address is empty; expected HOST:PORT',
  'heuristic-without-requests': ({ providerId }) => `${providerId} makes no requests: machines attach by themselves`,
  'heuristic-task-time-invalid': ({ taskMs }) => `the default task time is ${taskMs} ms; expected 1 ms or more`,
  'heuristic-unknown': ({ heuristic, names, nearest }) =>
    `heuristic is "${heuristic}"; expected one of ${names.join(', ')}` +
    (nearest === undefined ? '' : `; did you mean "${nearest}"?`),

  'request-user-empty': () => 'user_id is empty',
  'request-command-empty': () => 'command is empty',
  'request-width-invalid': ({ processors }) => `width is ${processors}; expected 1 or more`,
  'request-walltime-invalid': ({ walltimeMs }) => `walltime is ${walltimeMs} ms; expected 1 or more`,
  'request-too-wide': ({ processors, processorsMax }) => `width is ${processors}; expected at most ${processorsMax}`,
  'request-slots-unsupported': () =>
    'the request is in slots, and this cluster gives processors and nothing else; expected a cluster with described ' +
    'nodes, as in --node n1=local:8:memory=32G',
  'request-width-not-in-slots': ({ processors, slotProcessors }) =>
    `width is ${processors}; expected a multiple of ${slotProcessors}, the processors of a slot`,
  'request-slot-too-large': ({ processors, memoryBytes, gpus, gpuKind, processorsMax, memoryBytesMax, gpusMax }) =>
    `no node has ${describeSlot({ processors, memory: memoryBytes, gpus, gpuKind })}; expected at most ` +
    `${describeSlot({ processors: processorsMax, memory: memoryBytesMax, gpus: gpusMax, gpuKind })}, each the most ` +
    'that a node has',
  'request-too-long': ({ walltimeMs, walltimeMsMax }) =>
    `walltime is ${describeExactTime(walltimeMs)}; expected at most ${describeExactTime(walltimeMsMax)}`,
  'request-reservation-unknown': ({ reservationId }) => `reservation ${reservationId} is over, or not of this cluster`,
  'request-reservation-of-another-user': ({ reservationId, ownerId, userId }) =>
    `reservation ${reservationId} belongs to ${ownerId}; ${userId} makes the request`,
  'request-wider-than-reservation': ({ reservationId, processors, reservedProcessors }) =>
    `width is ${processors}; reservation ${reservationId} has ${reservedProcessors}`,
  'request-longer-than-reservation': ({ reservationId, walltimeMs, reservedMs }) =>
    `walltime is ${describeExactTime(walltimeMs)}; reservation ${reservationId} lasts ${describeExactTime(reservedMs)}`,
  'request-count-reached': ({ userId, requests, requestsMax }) =>
    `${userId} has ${requests} requests queued or running; expected at most ${requestsMax}`,
} satisfies Partial<Catalogue>;

interface Reading {
  readonly taskIndex: number;
  readonly path: string;
  readonly producerIndex: number;
}

function reading({ taskIndex, path, producerIndex }: Reading): string {
  return `task ${taskIndex} reads ${path} of task ${producerIndex}`;
}

function group(index: number | undefined): string {
  return index === undefined ? '' : `task group ${index}: `;
}
