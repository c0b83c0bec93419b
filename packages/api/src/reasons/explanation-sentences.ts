import { describeBytes, plural } from '@mutirao/core/shared';

import type { Catalogue } from './catalogue.ts';
import { aside, fromNow, listed, rounded, span, splitCount } from './numbers.ts';

/** What a broker answers when it is asked why. */
export const explanationSentences = {
  'request-status': ({ requestName, processors, walltimeMs, status, sinceMs, reservationId }) => {
    const inside = reservationId === undefined ? '' : ` inside reservation ${reservationId}`;
    const since = sinceMs === undefined ? '' : ` for ${span(sinceMs)}`;
    return `Request ${requestName} (${plural(processors, 'processor')} for ${span(walltimeMs)}${inside}): ${status}${since}.`;
  },
  'request-reasons-then': ({ sinceMs }) => `The next reasons are from its submission, ${span(sinceMs)} ago.`,
  'request-heuristic': ({ heuristic }) => `The heuristic ${heuristic} chose its size.`,
  'request-machines': ({ machineIds }) => `Its machines: ${machineIds.join(', ')}.`,
  'request-kept-for-tasks': ({ jobId, tasks }) =>
    `Idle processors are kept: ${plural(tasks, 'task')} of job ${jobId} will be ready soon, because what ` +
    `${tasks === 1 ? 'it waits' : 'they wait'} for has almost finished.`,
  'request-candidate': ({ isChosen, processors, walltimeMs, startMs, tasksPerHour }) => {
    return (
      `Candidate${isChosen ? ' (chosen)' : ''}: ${plural(processors, 'processor')} for ${span(walltimeMs)}, starting ${fromNow(startMs)}, ` +
      `${rounded(tasksPerHour)} tasks/h.`
    );
  },
  'request-assigned-tasks': ({ providerId, jobId, tasks }) =>
    `${plural(tasks, 'task')} of job ${jobId} ${tasks === 1 ? 'is' : 'are'} assigned to ${providerId} and waiting.`,
  'job-progress': ({ jobId, tasks, finishedTasks, runningTasks }) =>
    `Job ${jobId}: ${finishedTasks} of ${plural(tasks, 'task')} finished, ${runningTasks} running.`,
  'job-open': ({ jobId }) =>
    `It is open: more tasks may be added, and it does not end before "mutirao job close ${jobId}".`,
  'job-cancelling': ({ jobId, cause, openTasks }, { say }) =>
    `Job ${jobId} was cancelled${aside(say(cause))}; ${plural(openTasks, 'task')} ${openTasks === 1 ? 'is' : 'are'} still ` +
    'being stopped.',
  'job-ended': ({ jobId, status, afterMs }) =>
    `Job ${jobId} ${status === 'cancelled' ? 'was cancelled' : status} ${span(afterMs)} after its submission.`,
  'tasks-waiting': ({ tasks }) => `${plural(tasks, 'task')} ${tasks === 1 ? 'is' : 'are'} ready and waiting.`,
  'tasks-verifying': ({ tasks }) =>
    `${plural(tasks, 'result')} ${tasks === 1 ? 'is' : 'are'} being fetched and checked.`,
  'checks-running': ({ checks, longestMs }) =>
    checks === 1
      ? `A check of a result has been running on this host for ${span(longestMs)}.`
      : `${checks} checks of results are running on this host, the longest for ${span(longestMs)}.`,
  'checks-waiting': ({ checks, checksMax }) =>
    `${plural(checks, 'check')} of results ${checks === 1 ? 'waits' : 'wait'}: the broker runs ${checksMax} at a time ` +
    '(--checks-max), and at least one for each job.',
  'tasks-failed': ({ tasks, failuresMax }) =>
    `${plural(tasks, 'task')} failed (after ${plural(failuresMax, 'failed attempt')}, or too many lost machines).`,
  'tasks-failed-listed': ({ tasks, jobId }) =>
    `${plural(tasks, 'task')} failed; "mutirao task list ${jobId} --status failed" lists ${tasks === 1 ? 'it' : 'them'}.`,
  'tasks-cancelled': ({ tasks, cause }, { say }) =>
    `${plural(tasks, 'task')} ${tasks === 1 ? 'was' : 'were'} cancelled${aside(say(cause))}.`,
  'tasks-blocked': ({ tasks }) =>
    `${plural(tasks, 'task')} cannot run, because tasks that ${tasks === 1 ? 'it needs' : 'they need'} failed.`,
  'job-expires': ({ expireUnixMs, leftMs }, { instant }) =>
    `Tasks that have not started by ${instant(expireUnixMs)} are cancelled, ${fromNow(leftMs)}.`,
  'tasks-held': ({ tasks, jobId }) =>
    `${plural(tasks, 'task')} ${tasks === 1 ? 'is' : 'are'} held; "mutirao job release ${jobId}" lets ` +
    `${tasks === 1 ? 'it' : 'them'} start.`,
  'tasks-waiting-for-others': ({ tasks }) =>
    `${plural(tasks, 'task')} ${tasks === 1 ? 'waits' : 'wait'} for other tasks to finish.`,
  'tasks-reused': ({ tasks, jobId }) =>
    `${plural(tasks, 'result')} ${tasks === 1 ? 'was' : 'were'} reused from job ${jobId}.`,
  'replicas-started': ({ replicas, tasks }) =>
    `${plural(replicas, 'replica')} ${replicas === 1 ? 'was' : 'were'} started for ${plural(tasks, 'task')}.`,
  'job-site-selection': ({ strategy, admissibility, isAdaptive, isDefault, tasksByProvider }) => {
    const by = isAdaptive
      ? `${strategy}, adapting to the load (a = ${admissibility} now)`
      : `${strategy} with a = ${admissibility}`;
    const where = tasksByProvider.map((entry) => {
      const [providerId, count] = splitCount(entry);
      return `${count} at ${providerId}`;
    });
    return (
      `Tasks of several processors are assigned to resources by ${by}${isDefault ? ", the grid's default" : ''}: ` +
      `${where.length === 0 ? 'none now' : listed(where)}.`
    );
  },
  'job-planned-end': ({ endMs }) => `The plan expects the job to end in ${span(endMs)}.`,
  'job-rest': ({ slots, leastMs, mostMs }) => {
    const [least, most] = [span(leastMs), span(mostMs)];
    return (
      `With the ${plural(slots, 'slot')} that it has now, the job takes another ` +
      `${least === most ? least : `${least} to ${most}`}.`
    );
  },
  'task-times': ({ completedTasks, cutOffTasks, medianMs, ninetiethMs }) => {
    const by = `from ${plural(completedTasks, 'completed run')}${cutOffTasks === 0 ? '' : ` and ${cutOffTasks} interrupted`}`;
    if (medianMs === undefined) return `The run time of its tasks is not known yet, ${by}.`;
    const most =
      ninetiethMs === undefined
        ? 'too many were interrupted to know the 90th percentile'
        : `90 % take at most ${span(ninetiethMs)}`;
    return `Half of its tasks take at most ${span(medianMs)}, and ${most}, ${by}.`;
  },
  'memory-at-start': ({ memoryBytes, completedTasks, neededTasks }) =>
    `Tasks request ${describeBytes(memoryBytes)} of memory until --memory auto has ${neededTasks} measured runs; it has ` +
    `${completedTasks}.`,
  'memory-chosen': ({ memoryBytes, completedTasks, percent }) =>
    `--memory auto chose ${describeBytes(memoryBytes)}: ${percent} % of ${plural(completedTasks, 'measured run')} used ` +
    'less.',
  'memory-use': ({ leastAskedBytes, mostAskedBytes, completedTasks, medianBytes, ninetiethBytes }) => {
    const least = leastAskedBytes === mostAskedBytes ? '' : `${describeBytes(leastAskedBytes)} to `;
    return (
      `A task asks for ${least}${describeBytes(mostAskedBytes)} of memory; half of them use at most ` +
      `${describeBytes(medianBytes)}, and 90 % at most ${describeBytes(ninetiethBytes)}, from ` +
      `${plural(completedTasks, 'completed run')}.`
    );
  },
  'reservation-over-since': ({ endedUnixMs, cause, ...named }, { instant, say }) => {
    const words = say(cause);
    return `${reservation(named)} since ${instant(endedUnixMs)}${words === '' ? '' : `: ${words}`}.`;
  },
  'reservation-waits': ({ startMs, startUnixMs, ...named }, { instant }) =>
    `${reservation(named)} and begins ${fromNow(startMs)}, at ${instant(startUnixMs)}.`,
  'reservation-runs': ({ startUnixMs, leftMs, ...named }, { instant }) =>
    `${reservation(named)}, began at ${instant(startUnixMs)} and ends ${fromNow(leftMs)}.`,
  'reservation-place': ({ cause }, { say }) => {
    const words = say(cause);
    return words === '' ? 'The reason for its place is unknown.' : `Reason for its place: ${words}.`;
  },
  'reservation-place-changed': ({ changes }) =>
    `Its place has changed ${plural(changes, 'time')}; earlier claims are no longer valid.`,

  'replication-none': ({ scheduler }) => `Scheduler ${scheduler}: no task gets a second replica.`,
  'replication-single': ({ scheduler }) => `Scheduler ${scheduler}, with at most one replica of each task.`,
  'replication-up-to': ({ scheduler, replicasMax, prefersInputs }) =>
    `Scheduler ${scheduler}: a running task gets up to ${plural(replicasMax, 'replica')} at once, on idle processors` +
    `${prefersInputs ? ', first on machines that hold its inputs' : ''}.`,
  'replication-idle-only': ({ heldMachines, idleMachines }) =>
    'Replication budget: redundant replicas run only on processors that stay idle until their allocation ends; ' +
    `${idleMachines === 0 ? 'no machine is idle now' : `${heldMachines} of ${plural(idleMachines, 'idle machine')} now`}.`,
  'replication-budget': ({ percent, usedMs, losersMs, atRiskMs, leftMs, isSpent }) =>
    `Replication budget: redundant replicas may use ${percent} % of accepted run time (${span(usedMs)}); they have used ` +
    `${span(losersMs)} and may use another ${span(atRiskMs)}; ` +
    `${isSpent ? 'no further replica is allowed now' : `${span(leftMs)} is left`}.`,
  'no-replica-times-unknown': () => 'No replica yet: task run times are unknown until one finishes.',
  'no-replica-budget': ({ neededMs }) =>
    `No replica: it could use ${span(neededMs)}, more than the replication budget has left.`,
  'task-delegated': ({ providerId, leftMs }) =>
    `Delegated to provider ${providerId}, which is not connected and may start it on its own for another ` +
    `${span(leftMs)}.`,
  'task-awaits-provider': ({ providerId, waitMs }) =>
    `Waiting up to ${span(waitMs)} for provider ${providerId} to report its running tasks before scheduling this one ` +
    'elsewhere.',
  'job-delegated': ({ providerId, tasks, leftMs }) =>
    `Provider ${providerId} is not connected and may continue with ${plural(tasks, 'delegated task')} for another ` +
    `${span(leftMs)}.`,
  'replica-started-by-provider': ({ replicaId, machineId, providerId }) =>
    `Replica r${replicaId} was started on ${machineId} by provider ${providerId}, from its delegated tasks, while the ` +
    'broker was not connected.',
  'reservation-time-over': () => 'The reservation has reached its end.',
  'unknown-reason': ({ reasonCode, words }) => (words === '' ? `Reason ${reasonCode}.` : words),
} satisfies Partial<Catalogue>;

interface NamedReservation {
  readonly reservationId: number;
  readonly resourceId: string;
  readonly amount: number;
  readonly status: string;
}

/** `Reservation 3 of 4 of lab is confirmed`. */
function reservation({ reservationId, resourceId, amount, status }: NamedReservation): string {
  return `Reservation ${reservationId} of ${amount} of ${resourceId} is ${status}`;
}
