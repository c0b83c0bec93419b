import type { SchedulingProblem } from './scheduling-problem.ts';
import { isSamePlace } from './cost-model.ts';
import type { Placement, Schedule } from './schedule.ts';
import type { WorkflowTask } from './workflow.ts';

/**
 * Looks for what makes a schedule impossible: a task before its data, its job or its processors, two tasks on a
 * processor at once, a width or a run time that is
 * not the task's, something settled that moved. Undefined when nothing is. Times may differ by a rounding error. Cost:
 * O(edges + tasks log tasks).
 */
export function findScheduleFault(problem: SchedulingProblem, { placements }: Schedule): string | undefined {
  const tolerance = 1e-9 * placements.reduce((most, { end }) => Math.max(most, Math.abs(end)), 1);
  for (const [task, placement] of placements.entries()) {
    const fixed = problem.fixed[task];
    const fault = fixed === undefined ? findPlacementFault(problem, placement, tolerance) : findMove(fixed, placement);
    if (fault !== undefined) return `task ${problem.workflow.tasks[task]?.id ?? ''} ${fault}`;
  }
  return findLateData(problem, placements, tolerance) ?? findOverlap(problem, placements, tolerance);
}

function findMove(fixed: Placement, { start, end, processors }: Placement): string | undefined {
  return fixed.start === start && fixed.end === end && isSamePlace(fixed.processors, processors)
    ? undefined
    : 'was settled and has moved';
}

function findPlacementFault(
  { workflow, costs, now, releasedAt, availableFrom }: SchedulingProblem,
  { task, processors, start, end }: Placement,
  tolerance: number,
): string | undefined {
  const { widthMin, widthMax } = workflow.tasks[task] as WorkflowTask;
  if (processors.length < widthMin || processors.length > widthMax)
    return `takes ${widthMin} to ${widthMax} processors and has ${processors.length}`;
  if (!processors.every((processor, index) => index === 0 || (processors[index - 1] as number) < processor))
    return `has its processors not in order: ${processors.join(' ')}`;
  if (start < Math.max(now, releasedAt[task] as number) - tolerance) return `starts at ${start}, before it is there`;
  if (processors.some((processor) => start < (availableFrom[processor] as number) - tolerance))
    return `starts at ${start}, before its processors are there`;
  const time = costs.time(task, processors);
  return Math.abs(end - start - time) <= tolerance ? undefined : `takes ${time} and has ${end - start}`;
}

function findLateData(
  { workflow, costs, fixed }: SchedulingProblem,
  placements: readonly Placement[],
  tolerance: number,
): string | undefined {
  for (const [edge, { from, to }] of workflow.edges.entries()) {
    const [sender, receiver] = [placements[from] as Placement, placements[to] as Placement];
    const at = sender.end + costs.transfer(edge, sender, receiver.processors);
    if (fixed[to] === undefined && receiver.start < at - tolerance)
      return (
        `task ${nameOf(workflow.tasks, to)} starts at ${receiver.start}, its data from ` +
        `${nameOf(workflow.tasks, from)} comes at ${at}`
      );
  }
  return undefined;
}

function findOverlap(
  { workflow, availableFrom }: SchedulingProblem,
  placements: readonly Placement[],
  tolerance: number,
): string | undefined {
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
      return (
        `tasks ${nameOf(workflow.tasks, (stretches[index - 1] as Placement).task)} and ` +
        `${nameOf(workflow.tasks, (stretches[index] as Placement).task)} are on processor ${processor} at once`
      );
  }
  return undefined;
}

const nameOf = (tasks: readonly Pick<WorkflowTask, 'id'>[], index: number): string => tasks[index]?.id ?? '';
