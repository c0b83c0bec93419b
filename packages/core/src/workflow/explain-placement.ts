import type { GetReason } from '../reasons/index.ts';
import type { Placement } from './schedule.ts';
import type { Workflow } from './workflow.ts';

/** Why a task runs where and when it does. @param nameProcessor a processor by its index */
export function explainPlacement(
  { tasks }: Workflow,
  { task, processors, start, end, reason: { rule, heldBy, behind, runnerUp } }: Placement,
  nameProcessor: (index: number) => string,
): GetReason<'task-scheduled'> {
  const behindTaskId = behind === undefined ? undefined : tasks[behind]?.id;
  return {
    code: 'task-scheduled',
    taskId: tasks[task]?.id ?? '',
    processorNames: processors.map(nameProcessor),
    startMs: start,
    endMs: end,
    rule,
    heldBy,
    ...(behindTaskId === undefined ? {} : { behindTaskId }),
    ...(runnerUp === undefined
      ? {}
      : { otherProcessorName: nameProcessor(runnerUp.processor), otherEndMs: runnerUp.end }),
  };
}
