import { countStartable } from '../../../bag/index.ts';
import type { Reason } from '../../../reasons/index.ts';
import { emptyRequest } from '../../../resources/index.ts';
import type { Instant } from '../../../shared/index.ts';
import { matchesQueue } from '../dispatch/matching.ts';
import { getAlternative } from '../jobs/task-groups.ts';
import { statusOfMachine } from '../queries.ts';
import { findQueue } from '../site-selection/assigned-tasks.ts';
import type { BrokerState, OpenTask, TaskQueue } from '../state.ts';
import { keepsAway } from '../times/remaining-time.ts';
import { explainWaiting } from './explain-waiting.ts';

/** Says of each alternative of a queue's tasks why they do not run with it. */
export function explainAlternatives(state: BrokerState, { alternatives }: TaskQueue, now: Instant): Reason[] {
  return alternatives.map((request) => ({
    code: 'task-alternative-waits',
    ...describeRequest(request),
    cause: fitsNow(state, request, now) ? { code: 'earlier-request-sooner' } : explainWaiting(state, request, now).why,
  }));
}

/** Names the alternatives that replicas of a task run with. */
export function describeAlternatives({ replicas }: OpenTask): Reason[] {
  const used = new Set(replicas.map(({ alternative }) => alternative));
  return replicas.flatMap(({ job, task, alternative }) =>
    alternative === 0 || !used.delete(alternative)
      ? []
      : [
          {
            code: 'task-uses-alternative',
            ...describeRequest(getAlternative(findQueue(job, task.index), alternative)),
          },
        ],
  );
}

function fitsNow(state: BrokerState, request: TaskQueue, now: Instant): boolean {
  return [...state.machines.values()].some(
    (machine) =>
      matchesQueue(request, machine) &&
      ['idle', 'busy'].includes(statusOfMachine(state, machine, now)) &&
      !keepsAway({ state, now }, request, machine) &&
      countStartable(machine, request) > 0,
  );
}

function describeRequest({ alternative, processors, resources = emptyRequest }: TaskQueue) {
  const { memory, gpus, gpuKind = '', named } = resources;
  return {
    alternative,
    processors,
    memoryBytes: memory,
    gpuThousandths: gpus,
    gpuKind,
    resources: Object.keys(named)
      .sort()
      .map((name) => `${name}=${named[name]}`),
  };
}
