import { describeAmount, describePart } from '@mutirao/core/resources';
import { plural } from '@mutirao/core/shared';

import type { Catalogue, Wording } from './catalogue.ts';
import { aside, fromNow, listed, span } from './numbers.ts';

interface Named {
  readonly reservationId: number;
  readonly resourceId: string;
}

/** Conditions on an awaited job. */
export const awaitedTo = {
  started: 'start',
  ended: 'end',
  succeeded: 'finish',
  failed: 'fail or be cancelled',
  each: 'finish the same tasks',
} as const;

/** Why tasks wait and machines take no work. */
export const waitingSentences = {
  'no-provider': () => 'There are no machines and no providers to get any from. Start a grid with "mutirao up".',
  'no-machine-requested': () => 'There are no machines yet. Processors have been requested.',
  'no-machine-not-requested': () => 'There are no machines, and no provider has requested any.',
  'no-machine-requests-ended': () => 'There are no machines: all requests of the providers have ended.',
  'no-machine-draining': () => 'There are no machines: every connected provider is draining and requests none.',
  'advise-provider-show': ({ providerId }) =>
    `"mutirao provider show ${providerId}" shows why ${providerId} requests no processors.`,
  'provider-away': ({ providerId, cause }) => `Provider ${providerId} is not connected${aside(cause)}.`,
  'provider-is-draining': ({ providerId, sinceUnixMs, runningTasks, cause }, wording) =>
    `Provider ${providerId} has been draining since ${at(sinceUnixMs, wording)}${aside(cause)}: it takes no new tasks; ` +
    `${runningTasks === 0 ? 'no task is running there' : `${plural(runningTasks, 'task')} still running there`}.`,
  'advise-provider-undrain': ({ providerId }) =>
    `"mutirao provider undrain ${providerId}" lets ${providerId} take tasks again.`,

  'no-machine-matches': ({ machines, workFolder }) =>
    workFolder === undefined
      ? `${machines === 1 ? 'The only machine does not meet' : `None of ${machines} machines meets`} the requirements of these tasks.`
      : `These tasks start in ${workFolder} (--in-place, --chdir): ` +
        `${machines === 1 ? 'the only machine does not share' : `none of ${machines} machines shares`} that folder with ` +
        `this host ${machines === 1 ? 'or does not meet' : 'and meets'} the requirements.`,
  'further-machines': ({ machines }) => `And ${plural(machines, 'more machine')}.`,
  'all-machines-busy': ({ machines }) =>
    machines === 1 ? 'The only suitable machine is busy.' : `All ${machines} suitable machines are busy.`,
  'earlier-request-sooner': () => 'It fits now, but an earlier alternative is expected to finish sooner.',
  'no-machine-accepts': ({ machines }) =>
    machines === 1
      ? '1 machine is suitable, but it accepts no work now.'
      : `${machines} machines are suitable, but none accepts work now.`,
  'all-machines-draining': () => 'Every suitable machine belongs to a provider that is draining.',
  'served-after-job': ({ jobId }) => `Job ${jobId} was submitted earlier and is served first.`,
  'served-after-priority': ({ jobId, priority, ownPriority }) =>
    `Job ${jobId} has priority ${priority} and is served before this one, which has ${ownPriority}.`,
  'running-max-reached': ({ runningMax, running }) =>
    `The job may run at most ${plural(runningMax, 'task')} at once, and ${running} ${running === 1 ? 'runs' : 'run'}.`,
  'job-awaited': ({ awaitedId, condition, finishedTasks, tasks, taskIndex }) =>
    taskIndex === undefined
      ? `Waiting for job ${awaitedId} to ${awaitedTo[condition]} (${finishedTasks} of ${plural(tasks, 'task')} finished).`
      : `Waiting for task ${taskIndex} of job ${awaitedId} to finish.`,
  'begin-awaited': ({ beginUnixMs, leftMs }, wording) =>
    `Its user set it to start no earlier than ${at(beginUnixMs, wording)}, ${fromNow(leftMs)}.`,
  'no-machine-long-enough': ({ neededMs }) =>
    `Waiting for a machine whose allocation lasts at least another ${span(neededMs)}, as these tasks need.`,
  'needed-time-limit': () => "The time needed is the job's limit on run time.",
  'needed-time-longest': (seen) => `The time needed is the longest observed run time, from ${runs(seen)}.`,
  'needed-time-share': ({ percent, ...seen }) =>
    `The time needed is what ${percent} % of the tasks take at most, estimated from ${runs(seen)}.`,
  'machine-time-left': ({ machineId, leftMs }) =>
    `${machineId}: its allocation ends in ${span(leftMs)}, which is too soon.`,

  'machine-provider-away': ({ machineId, providerId, cause }) =>
    `${machineId}: its provider ${providerId} is not connected${aside(cause)}.`,
  'machine-provider-draining': ({ machineId, providerId, sinceUnixMs, cause }, wording) =>
    `${machineId}: its provider ${providerId} has been draining since ${at(sinceUnixMs, wording)}${aside(cause)}.`,
  'machine-draining': ({ machineId, sinceUnixMs, runningTasks, cause }, wording) =>
    `${machineId}: draining since ${at(sinceUnixMs, wording)}${aside(cause)}, with ${plural(runningTasks, 'task')} ` +
    `still running; "mutirao machine undrain ${machineId}" lets it take tasks again.`,
  'machine-quarantined': ({ machineId, evidence, cause }, { say }) => {
    const because = {
      attribute: `what it states about itself cannot be true${aside(say(cause))}`,
      report: `a report of it cannot be true${aside(say(cause))}`,
      word: `an operator quarantined it${aside(say(cause))}`,
      result: 'it returned wrong results',
    };
    return (
      `${machineId}: quarantined, because ${because[evidence]}. "mutirao machine trust" shows the evidence; ` +
      '"mutirao machine reset-trust" lifts the quarantine.'
    );
  },
  'machine-lost': ({ machineId, providerId }) =>
    `${machineId}: lost; provider ${providerId} is still delivering its earlier results.`,
  'machine-unconfirmed': ({ machineId, providerId }) =>
    `${machineId}: provider ${providerId} has not reported it since reconnecting.`,
  'machine-allocation-over': ({ machineId }) => `${machineId}: its allocation has ended.`,
  'machine-stopping': ({ machineId, pauseMs }) =>
    `${machineId}: it, or another machine of its allocation, is stopping; it gets no tasks for ${span(pauseMs)}.`,
  'machine-disk-full': ({ machineId, pauseMs }) =>
    `${machineId}: its disk was full; it gets no tasks for ${span(pauseMs)}.`,
  'machine-broke-tasks': ({ machineId, brokenTasks, pauseMs }) =>
    `${machineId}: it could not run ${plural(brokenTasks, 'task')} in a row; it gets no tasks for ${span(pauseMs)}.`,
  'machine-not-connected': ({ machineId }) =>
    `${machineId} is not connected; "mutirao events" shows when and why it was lost.`,

  'machine-busy': ({ machineId, tasks, freeProcessors, processors }) =>
    `${machineId} runs ${plural(tasks, 'task')}; ${freeProcessors} of ${plural(processors, 'processor')} ` +
    `${freeProcessors === 1 ? 'is' : 'are'} free.`,
  'machine-ends-awaited': ({ machineId, tasks }) =>
    `It was asked to end ${tasks === 1 ? '1 of them' : `${tasks} of them`} and has not confirmed that; their processors ` +
    `stay taken until ${machineId} does or leaves.`,
  'machine-nothing-pending': () => 'None of your tasks is waiting for a machine.',
  'machine-mismatch': ({ machineId, jobId }) => `${machineId} does not suit the tasks of job ${jobId}.`,
  'machine-reserved': ({ machineId, jobId }) =>
    `${machineId} is held for a reservation that job ${jobId} does not belong to.`,
  'machine-outside-reservation': ({ machineId, jobId }) =>
    `Job ${jobId} runs inside a reservation that ${machineId} does not belong to.`,
  'machine-tasks-elsewhere': ({ jobId }) => `The tasks of job ${jobId} are assigned to another provider.`,
  'machine-too-short': ({ machineId, jobId }) =>
    `The tasks of job ${jobId} need more time than the allocation of ${machineId} has left.`,
  'machine-next': ({ machineId, jobId }) =>
    `${machineId} suits the tasks of job ${jobId}, which start when it is their turn.`,
  'machine-too-small': ({ machineId, taskProcessors, processors }) =>
    `${machineId}: a task needs ${plural(taskProcessors, 'processor')}, and the machine has ${processors}.`,
  'resource-not-free': ({ resource: kind, resourceName: name, needed, free, total, machineId }) =>
    `A task needs ${describeAmount({ kind, name }, needed)}; ` +
    (free === 0
      ? `none is free on ${machineId}, which has ${describeAmount({ kind, name }, total)}.`
      : `the largest free is ${describeAmount({ kind, name }, free)}, on ${machineId}.`),
  'resource-lacking': ({ resource: kind, resourceName: name, needed, total, machineId, machines }) =>
    `A task needs ${describeAmount({ kind, name }, needed)}; ` +
    (total === 0
      ? `${machines === 1 ? 'the only machine has none' : `none of ${machines} machines has any`}.`
      : `the most that a machine has is ${describeAmount({ kind, name }, total)}, on ${machineId}.`),
  'machine-resource-free': ({ machineId, resource: kind, resourceName: name, free, total }) =>
    `${machineId}: ${describePart({ kind, name }, { free, total })} free.`,
  'machine-lacks-resource': ({ machineId, resource: kind, resourceName: name, needed, total }) =>
    `${machineId}: a task needs ${describeAmount({ kind, name }, needed)}, and the machine has ` +
    `${total === 0 ? 'none' : describeAmount({ kind, name }, total)}.`,
  'machine-takes-no-gangs': ({ machineId }) =>
    `${machineId}: its agent or provider is from an earlier release and cannot run a part of a task.`,
  'machine-of-one-user': ({ machineId, userId }) =>
    `${machineId}: runs only tasks of ${userId}, because other users' tasks could read the grid's key there.`,

  'requirement-bare-name': ({ machineId, requirement, attribute }) =>
    `${machineId}: "${requirement}" never matches, because it is a name alone; write "${attribute} == VALUE".`,
  'requirement-not-stated': ({ machineId, requirement, attribute, similarAttribute }) =>
    `${machineId}: requires ${requirement}, but the machine does not state ${attribute}` +
    `${similarAttribute === undefined ? '' : ` (it states ${similarAttribute}: did you mean that?)`}.`,
  'requirement-not-met': ({ machineId, requirement, attribute, value, notNumeric, wantedValue }) => {
    const why = {
      neither: '',
      wanted: `; ${wantedValue} is not a number, so this comparison never holds`,
      stated: ', which is not a number',
    };
    return `${machineId}: requires ${requirement}, but the machine has ${attribute} = ${value}${why[notNumeric]}.`;
  },

  'gangs-paused': ({ failedGangs, pauseMs }) =>
    `The last ${plural(failedGangs, 'attempt')} to start a task of this job on several machines failed; the next ` +
    `attempt is in ${span(pauseMs)}.`,
  'gang-offer': ({ providerId, usableProcessors, freeProcessors, outdatedMachines }) =>
    `Provider ${providerId} has ${plural(usableProcessors, 'usable processor')}, ${freeProcessors} of them free` +
    `${outdatedMachines === 0 ? '' : `; ${plural(outdatedMachines, 'machine')} there cannot take part, because the agent or the provider is from an earlier release`}.`,
  'gang-too-wide': ({ processors, usableProcessors, providerId }) =>
    `A task needs ${plural(processors, 'processor')} of one provider. ` +
    `${providerId === undefined ? 'No provider has a machine that can take part.' : `The largest, ${providerId}, has ${usableProcessors}.`}`,
  'gang-gathering': ({ processors, freeProcessors, providerId }) =>
    `Waiting for ${plural(processors, 'processor')} to be free at once: ${providerId} has ${freeProcessors} free now, ` +
    'unless a task that has waited longer takes them.',

  'reservation-over-waits': (named) =>
    `${titled(named)} is over, and the remaining tasks wait, as requested on submission.`,
  'advise-job-retry': ({ jobId }) => `"mutirao job retry ${jobId}" lets the remaining tasks run on any machine.`,
  'reservation-provider-absent': (named) =>
    `Waiting for a provider of resource ${named.resourceId}: none is connected for reservation ` +
    `${named.reservationId}. "mutirao provider list" shows all providers.`,
  'reservation-begins': ({ startMs, ...named }) => `Waiting for ${called(named)}, which begins ${fromNow(startMs)}.`,
  'reservation-machines-absent': (named) => `Waiting for the machines of ${called(named)} to start.`,
  'reservation-was-over': ({ afterMs, endCode, tasksWait, ...named }) =>
    `${titled(named)} was over ${span(afterMs)} after the submission (${endCode}); the remaining tasks ` +
    `${tasksWait ? 'wait' : 'continued on any machine'}.`,
  'reservation-own': ({ reservedProcessors, isBegun, leftMs, ...named }) =>
    `Tasks run on any machine, and also inside ${called(named)}: ${plural(reservedProcessors, 'processor')} reserved to ` +
    `meet the deadline, ${isBegun ? `for another ${span(leftMs)}` : `from ${span(leftMs)} from now`}.`,
  'reservation-inside': ({ leftMs, tasksWait, ...named }) =>
    `Tasks run only inside ${called(named)}, which ends in ${span(leftMs)}; the remaining tasks then ` +
    `${tasksWait ? 'wait' : 'continue on any machine'}.`,

  'site-selection-waits-for-queues': ({ providerIds }) =>
    `Not assigned to a resource yet: waiting for the queue of ${listed(providerIds)} to be reported.`,
  'site-selection-too-wide': ({ taskProcessors, widestProcessors }) =>
    `A task needs ${plural(taskProcessors, 'processor')}; the largest resource has ${widestProcessors}.`,
  'site-selection-unsuitable': ({ taskProcessors }) =>
    `No resource with ${plural(taskProcessors, 'processor')} meets the requirements of these tasks.`,
  'site-selection-next': () => 'Not assigned to a resource yet: that happens in the next scheduling step.',
  'site-selection-behind': ({ tasks }) =>
    `Not assigned to a resource yet: ${plural(tasks, 'task')} of this job ${tasks === 1 ? 'is' : 'are'} assigned and ` +
    'waiting, and go first.',
  'resource-size-unknown': ({ providerId }) => `Provider ${providerId} has not reported any processors.`,
  'resource-size': ({ providerId, processors, requestProcessorsMax, obstacle, machineProcessorsMax }) => {
    const atOnce = requestProcessorsMax < processors ? `, at most ${requestProcessorsMax} in one request` : '';
    const why = {
      none: '',
      draining: ', and is draining',
      'small-machines': `, on machines of at most ${machineProcessorsMax}`,
      requirements: ', on machines that do not meet the requirements',
    };
    return `Provider ${providerId} has ${plural(processors, 'processor')}${atOnce}${why[obstacle]}.`;
  },
} satisfies Partial<Catalogue>;

function at(unixMs: number, { instant }: Wording): string {
  return instant(unixMs - (unixMs % 1000));
}

function runs({
  completedTasks,
  cutOffTasks,
}: {
  readonly completedTasks: number;
  readonly cutOffTasks: number;
}): string {
  const cutOff = cutOffTasks === 0 ? '' : ` and ${cutOffTasks} interrupted`;
  return `${plural(completedTasks, 'completed run')}${cutOff}`;
}

function called({ reservationId, resourceId }: Named): string {
  return `reservation ${reservationId} of ${resourceId}`;
}

function titled({ reservationId, resourceId }: Named): string {
  return `Reservation ${reservationId} of ${resourceId}`;
}
