import type { SchedulingProblem } from './scheduling-problem.ts';
import { isSamePlace } from './cost-model.ts';
import type { Placement, Schedule } from './schedule.ts';
import type { WorkflowTask } from './workflow.ts';

/** What makes a schedule impossible: numbers are times, processors or widths, as the kind says. */
export interface ScheduleFault extends PlacementFault {
  readonly taskId: string;
  /** The other one of two tasks; left out where one is wrong by itself. */
  readonly otherTaskId?: string;
}

interface PlacementFault {
  readonly kind:
    | 'moved'
    | 'width'
    | 'processor-order'
    | 'before-arrival'
    | 'before-processor'
    | 'time'
    | 'before-data'
    | 'overlap';
  readonly found: readonly number[];
  readonly expected: readonly number[];
}

/**
 * Looks for what makes a schedule impossible: a task before its data, its job or its processors, two tasks on a
 * processor at once, a width or a run time that is
 * not the task's, something settled that moved. Undefined when nothing is. Times may differ by a rounding error. Cost:
 * O(edges + tasks log tasks).
 */
export function findScheduleFault(problem: SchedulingProblem, { placements }: Schedule): ScheduleFault | undefined {
  const tolerance = 1e-9 * placements.reduce((most, { end }) => Math.max(most, Math.abs(end)), 1);
  for (const [task, placement] of placements.entries()) {
    const fixed = problem.fixed[task];
    const fault = fixed === undefined ? findPlacementFault(problem, placement, tolerance) : findMove(fixed, placement);
    if (fault !== undefined) return { ...fault, taskId: problem.workflow.tasks[task]?.id ?? '' };
  }
  return findLateData(problem, placements, tolerance) ?? findOverlap(problem, placements, tolerance);
}

function findMove(fixed: Placement, { start, end, processors }: Placement): PlacementFault | undefined {
  return fixed.start === start && fixed.end === end && isSamePlace(fixed.processors, processors)
    ? undefined
    : { kind: 'moved', found: [start, end], expected: [fixed.start, fixed.end] };
}

function findPlacementFault(
  { workflow, costs, now, releasedAt, availableFrom }: SchedulingProblem,
  { task, processors, start, end }: Placement,
  tolerance: number,
): PlacementFault | undefined {
  const { widthMin, widthMax } = workflow.tasks[task] as WorkflowTask;
  if (processors.length < widthMin || processors.length > widthMax)
    return { kind: 'width', found: [processors.length], expected: [widthMin, widthMax] };
  if (!processors.every((processor, index) => index === 0 || (processors[index - 1] as number) < processor))
    return { kind: 'processor-order', found: processors, expected: [] };
  const arrival = Math.max(now, releasedAt[task] as number);
  if (start < arrival - tolerance) return { kind: 'before-arrival', found: [start], expected: [arrival] };
  const available = Math.max(...processors.map((processor) => availableFrom[processor] as number));
  if (start < available - tolerance) return { kind: 'before-processor', found: [start], expected: [available] };
  const time = costs.time(task, processors);
  const isAsLong = Math.abs(end - start - time) <= tolerance;
  return isAsLong ? undefined : { kind: 'time', found: [end - start], expected: [time] };
}

function findLateData(
  { workflow, costs, fixed }: SchedulingProblem,
  placements: readonly Placement[],
  tolerance: number,
): ScheduleFault | undefined {
  for (const [edge, { from, to }] of workflow.edges.entries()) {
    const [sender, receiver] = [placements[from] as Placement, placements[to] as Placement];
    const at = sender.end + costs.transfer(edge, sender, receiver.processors);
    if (fixed[to] === undefined && receiver.start < at - tolerance)
      return {
        kind: 'before-data',
        taskId: nameOf(workflow.tasks, to),
        otherTaskId: nameOf(workflow.tasks, from),
        found: [receiver.start],
        expected: [at],
      };
  }
  return undefined;
}

function findOverlap(
  { workflow, availableFrom }: SchedulingProblem,
  placements: readonly Placement[],
  tolerance: number,
): ScheduleFault | undefined {
  const byProcessor: Placement[][] = availableFrom.map(() => []);
  for (const placement of placements)
    if (placement.end > placement.start)
      for (const processor of placement.processors) byProcessor[processor]?.push(placement);
  for (const [processor, stretches] of byProcessor.entries()) {
    stretches.sort((one, other) => one.start - other.start);
    const index = stretches.findIndex(
      ({ start }, at) => at > 0 && start < (stretches[at - 1] as Placement).end - tolerance,
    );
    if (index > 0)
      return {
        kind: 'overlap',
        taskId: nameOf(workflow.tasks, (stretches[index] as Placement).task),
        otherTaskId: nameOf(workflow.tasks, (stretches[index - 1] as Placement).task),
        found: [processor],
        expected: [],
      };
  }
  return undefined;
}

const nameOf = (tasks: readonly Pick<WorkflowTask, 'id'>[], index: number): string => tasks[index]?.id ?? '';
