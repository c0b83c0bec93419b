import type { Placement, PlacementRule } from './schedule.ts';
import type { Workflow } from './workflow.ts';

/** How the parts of a schedule are called. */
export interface PlacementNames {
  /** A processor by its index. */
  readonly processor: (index: number) => string;
  readonly time: (instant: number) => string;
}

const chosenBy: Readonly<Record<PlacementRule, string>> = {
  'earliest-finish': 'where it ends first',
  inserted: 'where it ends first, in a gap between two others',
  'critical-path': 'where the whole critical path is fastest',
  capacity: 'on its share of the capacity',
  exchanged: 'on its share of the capacity, after an exchange with another task',
  'first-free': 'which is the first that is free',
  fixed: 'settled before',
};

/** Says in one sentence why a task runs where and when it does. */
export function describePlacement(
  { tasks }: Workflow,
  { task, processors, start, end, reason }: Placement,
  names: PlacementNames,
): string {
  const idOf = (index: number | undefined): string => (index === undefined ? '' : (tasks[index]?.id ?? ''));
  const held = {
    arrival: 'as soon as its job is there',
    data: `when the data of ${idOf(reason.behind)} is there`,
    processor:
      reason.behind === undefined
        ? 'when the processor is there'
        : `after ${idOf(reason.behind)} on the same processor`,
  }[reason.heldBy];
  const other =
    reason.runnerUp === undefined
      ? ''
      : `; on ${names.processor(reason.runnerUp.processor)} it would end at ${names.time(reason.runnerUp.end)}`;
  const where = processors.map(names.processor).join(', ');
  return (
    `${idOf(task)} runs on ${where} from ${names.time(start)} to ${names.time(end)}: ${chosenBy[reason.rule]}, ` +
    `${held}${other}`
  );
}
