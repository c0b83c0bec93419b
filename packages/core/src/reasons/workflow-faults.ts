import type { ReasonTable } from './parameters.ts';

/** What is wrong with a workflow. */
export const workflowFaults = {
  'workflow-without-tasks': {},
  'workflow-task-twice': { taskId: 'text' },
  'workflow-work-invalid': { taskId: 'text', work: 'number' },
  'workflow-exchange-invalid': { taskId: 'text', exchangeBytes: 'number' },
  'workflow-width-invalid': { taskId: 'text', processorsMin: 'number', processorsMax: 'number' },
  'workflow-task-too-wide': { taskId: 'text', processors: 'number', knownProcessors: 'number' },
  'workflow-edge-task-unknown': { fromId: 'text', toId: 'text', taskId: 'text' },
  'workflow-edge-cost-invalid': { fromId: 'text', toId: 'text', cost: 'number' },
  'workflow-edge-twice': { fromId: 'text', toId: 'text' },
  'workflow-cycle': { taskIds: 'texts' },
} as const satisfies ReasonTable;
