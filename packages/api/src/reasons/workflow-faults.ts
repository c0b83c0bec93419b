import type { Catalogue } from './catalogue.ts';

/** What is wrong with a workflow. */
export const workflowFaults = {
  'workflow-without-tasks': () => 'the workflow has no task',
  'workflow-task-twice': ({ taskId }) => `there are two tasks ${taskId}`,
  'workflow-work-invalid': ({ taskId, work }) => `the work of task ${taskId} is ${work}; expected a number, 0 or more`,
  'workflow-exchange-invalid': ({ taskId, exchangeBytes }) =>
    `the processors of task ${taskId} exchange ${exchangeBytes}; expected a number, 0 or more`,
  'workflow-width-invalid': ({ taskId, processorsMin, processorsMax }) =>
    `task ${taskId} takes ${processorsMin} to ${processorsMax} processors; expected whole numbers, 1 or more, the ` +
    'minimum first',
  'workflow-task-too-wide': ({ taskId, processors, knownProcessors }) =>
    `task ${taskId} takes ${processors} processors; there are ${knownProcessors}`,
  'workflow-edge-task-unknown': ({ fromId, toId, taskId }) =>
    `the edge from ${fromId} to ${toId} names the task ${taskId}, which does not exist`,
  'workflow-edge-cost-invalid': ({ fromId, toId, cost }) =>
    `the edge from ${fromId} to ${toId} costs ${cost}; expected a number, 0 or more`,
  'workflow-edge-twice': ({ fromId, toId }) => `there are two edges from ${fromId} to ${toId}`,
  'workflow-cycle': ({ taskIds }) =>
    taskIds.length === 2
      ? `task ${taskIds[0] ?? ''} waits for itself`
      : `${taskIds.length - 1} tasks wait for each other: ${taskIds.join(' -> ')}`,
} satisfies Partial<Catalogue>;
