import { Heap, type Duration } from '../shared/index.ts';
import { placeEarliest } from './heft.ts';
import { bLevels, findCriticalPath, tLevels } from './levels.ts';
import { meanCosts, Placing } from './placing.ts';
import type { WorkflowScheduler } from './scheduling-problem.ts';
import type { WorkflowEdge, WorkflowTask } from './workflow.ts';

/**
 * CPOP: ready tasks by falling t-level + b-level; those of the critical path to the processor that runs all of it
 * fastest, others where they end first.
 *
 * Cost: O(tasks^2 x processors) at worst.
 *
 * @source Topcuoglu, Hariri and Wu 2002, section 4.2. Departs from the source: of several longest paths the one with
 * the lowest indexes is taken; a rigid
 * task of several processors is placed as HEFT places it.
 */
export const cpop: WorkflowScheduler = {
  name: 'cpop',
  schedule(problem) {
    const { workflow } = problem;
    const placing = new Placing(problem);
    const costs = meanCosts(problem);
    const [tops, bottoms] = [tLevels(workflow, costs), bLevels(workflow, costs)];
    const priority = (task: number): number => (tops[task] as number) + (bottoms[task] as number);
    const path = new Set(findCriticalPath(workflow, costs).tasks);
    const pathProcessor = fastestFor(placing, path);
    const waitsFor = workflow.incoming.map(({ length }) => length);
    const ready = new Heap<number>(
      (one, other) => priority(one) > priority(other) || (priority(one) === priority(other) && one < other),
    );
    waitsFor.forEach((count, task) => {
      if (count === 0) ready.push(task);
    });
    for (let task = ready.pop(); task !== undefined; task = ready.pop()) {
      if (placing.find(task) === undefined) {
        if (path.has(task) && isNarrow(workflow.tasks[task]))
          placing.accept(task, placing.getOffer(task, pathProcessor, true), 'critical-path');
        else placeEarliest(placing, task);
      }
      for (const edge of workflow.outgoing[task] as readonly number[]) {
        const { to } = workflow.edges[edge] as WorkflowEdge;
        waitsFor[to] = (waitsFor[to] as number) - 1;
        if (waitsFor[to] === 0) ready.push(to);
      }
    }
    return placing.finish('cpop');
  },
};

const isNarrow = (task: WorkflowTask | undefined): boolean => task?.widthMin === 1;

/** The processor on which the tasks of a path take the least time one after another. */
function fastestFor({ problem, processors }: Placing, path: ReadonlySet<number>): number {
  const { costs, workflow } = problem;
  let [fastest, least]: [number, Duration] = [processors[0] as number, Infinity];
  for (const processor of processors) {
    let sum = 0;
    for (const task of path) if (isNarrow(workflow.tasks[task])) sum += costs.time(task, [processor]);
    if (sum < least) [fastest, least] = [processor, sum];
  }
  return fastest;
}
