import { listAmounts } from '@mutirao/core/resources';
import { describeBytes, plural } from '@mutirao/core/shared';

import type { Catalogue } from './catalogue.ts';
import { aside, fromNow, listed, span, splitCount } from './numbers.ts';

interface Named {
  readonly jobId: number;
  readonly taskIndex: number;
}

interface Gang {
  readonly processors: number;
  readonly machines: number;
  readonly processorsByMachine: readonly string[];
}

/** What is said of one task. */
export const taskSentences = {
  'task-ready': (named) => `${titled(named)} is ready to run.`,
  'task-unmet': ({ unfinishedTasks, taskIndexes, ...named }) =>
    `${titled(named)} waits for ${plural(unfinishedTasks, 'task')} to finish: ${taskIndexes.join(', ')}` +
    `${unfinishedTasks > taskIndexes.length ? ' and others' : ''}.`,
  'task-before': ({ taskIndex, status }) =>
    status === 'gone' ? `The records of task ${taskIndex} are gone.` : `Task ${taskIndex} is ${status}.`,
  'further-tasks': ({ tasks }) => `And ${plural(tasks, 'more task')}.`,
  'task-gated': (named) => `${titled(named)} may not start yet.`,
  'task-held': (named) =>
    `${titled(named)} is held. "mutirao job release ${named.jobId} ${named.taskIndex}" lets it start.`,
  'task-running': ({ machineIds, ...named }) => `${titled(named)} runs on ${listed(machineIds)}.`,
  'replica-running': ({ replicaId, machineId, forMs }) =>
    `Replica r${replicaId} has run on ${machineId} for ${span(forMs)}.`,
  'replica-dispatched': ({ replicaId, machineId, agoMs }) =>
    `Replica r${replicaId} was sent to ${machineId} ${span(agoMs)} ago and has not started.`,
  'gang-running': ({ jobId, taskIndex, ...gang }) => `${titled({ jobId, taskIndex })} runs on ${spread(gang)}.`,
  'gang-starting': ({ jobId, taskIndex, readyMachines, forMs, ...gang }) =>
    `${titled({ jobId, taskIndex })} is starting on ${spread(gang)}: ${readyMachines} of ` +
    `${plural(gang.machines, 'machine')} ready after ${span(forMs)}.`,
  'replica-rest': ({ machineId, expectedMs, mostMs }) =>
    `On ${machineId} it is expected to take another ${span(expectedMs)}; nine in ten tasks that ran this long take at ` +
    `most another ${span(mostMs)}.`,
  'task-verifying': ({ machineId, ...named }) =>
    `${titled(named)} succeeded on ${machineId}; its outputs are being fetched and checked.`,
  'task-finished': ({ machineId, tookMs, ...named }) =>
    machineId === undefined || tookMs === undefined
      ? `${titled(named)} finished.`
      : `${titled(named)} finished on ${machineId} after ${span(tookMs)}.`,
  'task-reused': ({ fromJobId, fromTaskIndex, ...named }) =>
    `${titled(named)} did not run: it reuses the result of task ${fromTaskIndex} of job ${fromJobId}, which was the ` +
    'same.',
  'task-failed': (named) =>
    `${titled(named)} failed. "mutirao job retry ${named.jobId}" runs the failed tasks of the job again.`,
  'task-cancelled': ({ cause, ...named }, { say }) => `${titled(named)} was cancelled${aside(say(cause))}.`,
  'task-cancelling': ({ machineIds, ...named }) =>
    `${titled(named)} was cancelled and is being stopped${machineIds.length === 0 ? '' : ` on ${listed(machineIds)}`}.`,
  'replica-end-awaited': ({ replicaId, machineId, leftMs }) =>
    `If ${machineId} does not confirm the end of replica r${replicaId}, the task ends without that in ${span(leftMs)}.`,
  'task-behind-cancelled': ({ cancelledTaskIndex, ...named }) =>
    `${titled(named)} cannot run, because task ${cancelledTaskIndex} was cancelled. ` +
    `"mutirao job retry ${named.jobId}" runs both again.`,
  'task-blocked': ({ failedTaskIndex, ...named }) =>
    `${titled(named)} cannot run, because task ${failedTaskIndex} failed. "mutirao job retry ${named.jobId}" runs both ` +
    'again.',
  'replica-ended': ({ replicaId, machineId, disposition, exitStatus, endCode, cause }, { say }) => {
    const ended = disposition === 'failed' ? 'failed' : `was ${disposition}`;
    const status = exitStatus === undefined ? '' : ` with exit status ${exitStatus}`;
    const why = [endCode, say(cause)].filter((text) => text !== '').join(': ');
    return `Replica r${replicaId} on ${machineId} ${ended}${status}${aside(why)}.`;
  },
  'replicas-withdrawn': ({ replicas }) =>
    `${plural(replicas, 'replica')} staged ahead on machines were withdrawn before they began.`,
  'records-gone': () => 'The records of its replicas are gone.',

  'task-alternative-waits': ({ alternative, cause, ...request }, { say }) =>
    `Alternative ${alternative} (${describeRequest(request)}) waits${asReason(say(cause))}.`,
  'task-uses-alternative': ({ alternative, ...request }) =>
    `It runs with alternative ${alternative}: ${describeRequest(request)}.`,
  'task-given-memory': ({ retries, memoryBytes }) =>
    `It used more memory than it asked for, and asks for ${describeBytes(memoryBytes)} now, after ` +
    `${retries === 1 ? 'one retry' : `${retries} retries`} with more.`,
  'task-failures': ({ failures, failuresMax }) =>
    `It has failed ${plural(failures, 'time')}; after ${failuresMax} it is given up.`,
  'task-losses': ({ losses, lossesMax }) =>
    `Its machine was lost or could not run it ${plural(losses, 'time')}; after ${lossesMax} it is given up.`,
  'task-losses-unjudged': ({ losses }) =>
    `${losses} of these may not count: how ${losses === 1 ? 'the allocation' : 'their allocations'} ended is not known ` +
    'yet.',
  'task-stops': ({ stops, stopsMax }) =>
    `Its machine was taken away while it ran ${plural(stops, 'time')}; after ${stopsMax} that counts as its failure.`,
  'task-avoids-machine': ({ machineId, leftMs }) =>
    `Its last attempt failed on ${machineId}, which is avoided for another ${span(leftMs)}.`,

  'task-assigned': ({ providerId, agoMs, cause }, { say }) =>
    `Assigned to ${providerId} ${span(agoMs)} ago${aside(say(cause))}.`,
  'task-start-expected': ({ startMs }) => `Expected to start there ${fromNow(startMs)}.`,
  'task-start-late': ({ lateMs }) => `It was expected to start there ${span(lateMs)} ago.`,
  'task-planned': ({ machineId, rule, startMs, endMs, startsAfter, otherMachineId, otherEndMs, ...after }) => {
    const start = fromNow(startMs);
    const other =
      otherMachineId === undefined || otherEndMs === undefined
        ? ''
        : ` On ${otherMachineId} it would end in ${span(otherEndMs)}.`;
    const task = `task ${after.afterTaskIndex ?? 0} of job ${after.afterJobId ?? 0}`;
    const cause = {
      nothing: '',
      machine: ', when the machine is free',
      task: `, after ${task}`,
      data: `, when ${task} has written its outputs`,
    };
    return (
      `Planned on ${machineId}, ${chosenBy[rule]}: starts ${start}${cause[startsAfter]}, and ends in ` +
      `${span(endMs)}.${other}`
    );
  },
  'plan-made': ({ agoMs, scheduler }) => `The plan was made ${span(agoMs)} ago by ${scheduler}.`,
  'plan-no-machine': () =>
    'Not planned: no machine could take it when the plan was made. It goes to the first machine that can.',
  'plan-later': () => 'Not planned in detail yet: tasks with a longer way to the end of their job come first.',

  'task-scheduled': ({ taskId, processorNames, startMs, endMs, rule, heldBy, behindTaskId = '', ...other }) => {
    const start = {
      arrival: 'as soon as its job is submitted',
      data: `when the data of ${behindTaskId} has arrived`,
      processor:
        behindTaskId === '' ? 'when the processor is available' : `after ${behindTaskId} on the same processor`,
    }[heldBy];
    const { otherProcessorName, otherEndMs = 0 } = other;
    return (
      `${taskId} runs on ${listed(processorNames)} from ${seconds(startMs)} to ${seconds(endMs)}: ${chosenBy[rule]}, ` +
      `${start}${otherProcessorName === undefined ? '' : `; on ${otherProcessorName} it would end at ${seconds(otherEndMs)}`}.`
    );
  },

  'plan-first': () => 'It is the first plan.',
  'plan-clock-set': () => "The plan was renewed because the host's clock was set.",
  'plan-machines-changed': () => 'The plan was renewed because machines joined or left.',
  'plan-times-learnt': ({ jobId }) =>
    `The plan was renewed because more became known of the run times of job ${jobId}.`,
  'plan-used-up': () => 'The plan was renewed because most tasks that it planned in detail had started.',
  'plan-job-arrived': ({ jobId }) => `The plan was renewed because job ${jobId} arrived.`,
  'plan-job-cancelled': ({ jobId }) => `The plan was renewed because job ${jobId} was cancelled.`,
  'plan-tasks-cancelled': ({ jobId }) => `The plan was renewed because tasks of job ${jobId} were cancelled.`,
  'plan-tasks-appended': ({ jobId }) => `The plan was renewed because tasks were added to job ${jobId}.`,
  'plan-tasks-held': ({ jobId }) => `The plan was renewed because tasks of job ${jobId} were held or released.`,
  'plan-job-updated': ({ jobId }) =>
    `The plan was renewed because the priority or the limit of job ${jobId} was changed.`,
  'plan-tasks-retried': ({ jobId }) => `The plan was renewed because tasks of job ${jobId} are retried.`,
  'plan-results-doubted': ({ jobId }) =>
    `The plan was renewed because results of job ${jobId} are in doubt and their tasks run again.`,
  'plan-task-ended-badly': ({ disposition, ...named }) =>
    `The plan was renewed because ${called(named)} ${disposition === 'failed' ? 'failed' : `was ${disposition}`}.`,
  'plan-task-ended-early': (named) => `The plan was renewed because ${called(named)} ended earlier than planned.`,
  'plan-task-ended-late': (named) => `The plan was renewed because ${called(named)} ended later than planned.`,
  'plan-task-late': (named) => `The plan was renewed because ${called(named)} runs longer than planned.`,

  'votes-decided': ({ results, machineId, ...named }) =>
    `${titled(named)} has ${plural(results, 'result')} and is decided` +
    `${machineId === undefined ? '.' : `: the result of ${machineId} is being fetched.`}`,
  'votes-deadlocked': ({ results, ...named }) =>
    `${titled(named)} has ${plural(results, 'result')} and no majority; it fails when its running replicas have ended.`,
  'votes-missing': ({ results, votesMissing, rule, threshold, ...named }) =>
    `${titled(named)} has ${plural(results, 'result')} and needs ${plural(votesMissing, 'more result')} ` +
    `that ${votesMissing === 1 ? 'agrees' : 'agree'} with the best (${rule === 'vote' ? 'vote:' : 'credibility '}${threshold}).`,
  'vote-result': ({ digest, credibilityByMachine, furtherMachines }) => {
    const voters = credibilityByMachine.map((entry) => {
      const [machineId, credibility] = splitCount(entry);
      return `${machineId} (credibility ${credibility})`;
    });
    const further = furtherMachines === 0 ? '' : ` and ${furtherMachines} more`;
    return `Result ${digest} came from ${furtherMachines === 0 ? listed(voters) : voters.join(', ')}${further}.`;
  },
  'votes-running': ({ machineIds }) => `Running on ${listed(machineIds)}.`,
  'votes-need-machine': () => 'Every connected machine has voted: waiting for another machine.',
  'votes-runs-missing': ({ runs, machines }) =>
    `${plural(runs, 'more run')} will start on ` +
    `${machines === 1 ? 'the only machine' : `one of ${machines} machines`} that ` +
    `${machines === 1 ? 'has' : 'have'} not voted.`,
} satisfies Partial<Catalogue>;

/** What each rule of planning says of a place. */
const chosenBy = {
  'earliest-finish': 'where it ends earliest',
  inserted: 'where it ends earliest, between two other tasks',
  'critical-path': 'where the whole critical path is fastest',
  capacity: 'as a share of the machines by their speed',
  exchanged: 'as a share of the machines, after swapping with another task',
  'first-free': 'which is free first',
  fixed: 'as decided before',
} as const;

function seconds(time: number): string {
  return `${Math.round(time) / 1000} s`;
}

function called({ jobId, taskIndex }: Named): string {
  return `task ${taskIndex} of job ${jobId}`;
}

function titled({ jobId, taskIndex }: Named): string {
  return `Task ${taskIndex} of job ${jobId}`;
}

/** `4 processors on 2 machines: lab/m1 (2), lab/m2 (2)`. */
function spread({ processors, machines, processorsByMachine }: Gang): string {
  const shown = processorsByMachine.map((entry) => {
    const [machineId, count] = splitCount(entry);
    return `${machineId} (${count})`;
  });
  const more = machines > shown.length ? ` and ${machines - shown.length} more` : '';
  return `${plural(processors, 'processor')} on ${plural(machines, 'machine')}, ${shown.join(', ')}${more}`;
}

interface Request {
  readonly processors: number;
  readonly memoryBytes: number;
  readonly gpuThousandths: number;
  readonly gpuKind: string;
  readonly resources: readonly string[];
}

/** `4 processors, 8 GiB of memory, 1 a100 GPU, licence=2`. */
function describeRequest({ processors, memoryBytes, gpuThousandths, gpuKind, resources }: Request): string {
  const kind = gpuKind === '' ? {} : { gpuKind };
  const amounts = listAmounts({ memory: memoryBytes, gpus: gpuThousandths, ...kind, named: {} });
  return [plural(processors, 'processor'), ...amounts, ...resources].join(', ');
}

function asReason(cause: string): string {
  return cause === '' ? '' : `: ${cause.replace(/\.$/, '')}`;
}
