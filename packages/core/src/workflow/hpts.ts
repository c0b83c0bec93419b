import type { Duration, Instant } from '../shared/index.ts';
import { exchangeProcessors, type LevelTask } from './exchange-processors.ts';
import { tailLevels } from './levels.ts';
import { Placing, type Offer } from './placing.ts';
import type { SchedulingProblem, WorkflowScheduler } from './scheduling-problem.ts';
import type { WorkflowEdge, WorkflowTask } from './workflow.ts';

/**
 * HPTS: tasks on several processors. All ready tasks are placed, then those that became ready by it, and so on. Each
 * gets a share of the capacity; then processors
 * move from the task with the least b-level to the one with the greatest.
 *
 * Cost: O(tasks x processors^2 + tasks x edges); O(tasks^2 x processors) with as many tasks as processors or more.
 *
 * @source moreira2009, 3.2.2.2:  S'(i) = S*(i), or (S_max / sum S*) S*(i) where sum S* > S_max
 * Symbols: S* = `capacity` of {@link Optimum}, S_max = all processors that are there, S' = `share`.
 * Departs from the source: of the processors in the order in which they come free, as many are taken as let the task
 * end first, and not only up to the first that
 * does not help, since grids of a prime number of processors are slow; transfers between tasks overlap with
 * computation, as in HEFT; a move of a processor after
 * which anything of the level would end the workflow later is undone, and ends the exchange.
 */
export const hpts: WorkflowScheduler = {
  name: 'hpts',
  schedule: (problem) => scheduleByCapacity(problem, { name: 'hpts', improves: false, overlaps: true }),
};

/**
 * iHPTS: HPTS, but a task that got one processor goes to the one on which it ends first.
 *
 * @source moreira2009, 3.2.3, lines 15 to 19, without insertion into idle slots. Departs from the source: as HPTS does;
 * the task moves only where it ends earlier.
 */
export const ihpts: WorkflowScheduler = {
  name: 'ihpts',
  schedule: (problem) => scheduleByCapacity(problem, { name: 'ihpts', improves: true, overlaps: true }),
};

/**
 * HPTS and iHPTS where processors that wait for data are idle, as the source models them (3.2.2.1; 6.1 has it for a
 * reason why HEFT is ahead). To compare with; {@link auto} leaves them out.
 */
export const withoutOverlap: { readonly hpts: WorkflowScheduler; readonly ihpts: WorkflowScheduler } = {
  hpts: {
    name: 'hpts without overlap',
    schedule: (problem) =>
      scheduleByCapacity(problem, { name: 'hpts without overlap', improves: false, overlaps: false }),
  },
  ihpts: {
    name: 'ihpts without overlap',
    schedule: (problem) =>
      scheduleByCapacity(problem, { name: 'ihpts without overlap', improves: true, overlaps: false }),
  },
};

/** Which of the four a scheduler is. */
interface Kind {
  readonly name: string;
  /** Whether a task that got one processor goes where it ends first. */
  readonly improves: boolean;
  /** Whether data comes while its receivers compute something else. */
  readonly overlaps: boolean;
}

/** How fast a task can be at all: on its best number of the fastest processors. */
interface Optimum {
  readonly time: Duration;
  readonly capacity: number;
}

function scheduleByCapacity(
  problem: SchedulingProblem,
  { name, improves, overlaps }: Kind,
): ReturnType<WorkflowScheduler['schedule']> {
  const { workflow, costs, fixed, after } = problem;
  const placing = new Placing(problem, overlaps);
  const fastest = placing.processors.toSorted(
    (one, other) => costs.capacity(other) - costs.capacity(one) || one - other,
  );
  const optima = workflow.tasks.map((_, task) => findOptimum(problem, task, fastest));
  const times = optima.map(({ time }, task) =>
    fixed[task] === undefined ? time : fixed[task].end - fixed[task].start,
  );
  const tails = tailLevels(workflow, {
    times,
    transfers: workflow.edges.map(({ from }, edge) => costs.meanTransfer(edge, times[from] as number)),
    ...(after === undefined ? {} : { after }),
  });
  const waitsFor = workflow.incoming.map(
    (edges) => edges.filter((edge) => placing.find((workflow.edges[edge] as WorkflowEdge).from) === undefined).length,
  );
  let ready = waitsFor.flatMap((count, task) => (count === 0 && placing.find(task) === undefined ? [task] : []));
  while (ready.length > 0) {
    const level = exchangeProcessors(placing, placeLevel(placing, { ready, optima, improves }), tails);
    for (const { task, processors, rule } of level) placing.accept(task, placing.offerOfGang(task, processors), rule);
    ready = releasedBy(ready, problem, waitsFor);
  }
  return placing.finish(name);
}

function releasedBy(placed: readonly number[], { workflow, fixed }: SchedulingProblem, waitsFor: number[]): number[] {
  const released: number[] = [];
  for (const task of placed) {
    for (const edge of workflow.outgoing[task] as readonly number[]) {
      const { to } = workflow.edges[edge] as WorkflowEdge;
      waitsFor[to] = (waitsFor[to] as number) - 1;
      if (waitsFor[to] === 0 && fixed[to] === undefined) released.push(to);
    }
  }
  return released;
}

/** The best number of processors for a task when it may have the fastest. */
function findOptimum({ workflow, costs }: SchedulingProblem, task: number, fastest: readonly number[]): Optimum {
  const { widthMin, widthMax } = workflow.tasks[task] as WorkflowTask;
  let best: Optimum = { time: Infinity, capacity: 0 };
  const chosen: number[] = [];
  let capacity = 0;
  for (const processor of fastest.slice(0, widthMax)) {
    chosen.push(processor);
    capacity += costs.capacity(processor);
    const time = chosen.length < widthMin ? Infinity : costs.time(task, chosen);
    if (time < best.time) best = { time, capacity };
  }
  return best;
}

/** Gives each ready task its processors, the one with the least t-level first. */
function placeLevel(
  placing: Placing,
  {
    ready,
    optima,
    improves,
  }: { readonly ready: readonly number[]; readonly optima: readonly Optimum[]; readonly improves: boolean },
): LevelTask[] {
  const { costs } = placing.problem;
  const all = placing.processors.reduce((sum, processor) => sum + costs.capacity(processor), 0);
  const wanted = ready.reduce((sum, task) => sum + (optima[task] as Optimum).capacity, 0);
  const scale = wanted > all ? all / wanted : 1;
  const levels = new Map(ready.map((task) => [task, placing.readyAt(task, [])]));
  const free = placing.freeTimes();
  const order = ready.toSorted(
    (one, other) => (levels.get(one) as number) - (levels.get(other) as number) || one - other,
  );
  return order.map((task) => {
    const grown = grow(placing, free, task, (optima[task] as Optimum).capacity * scale);
    const better = improves && grown.processors.length === 1 ? findEarliest(placing, free, task, grown) : grown;
    for (const processor of better.processors) free[processor] = better.end;
    return { task, processors: better.processors, rule: better === grown ? 'capacity' : 'earliest-finish' };
  });
}

/**
 * Takes processors in the order in which they come free until the task has its share of capacity, and of these as many
 * as let it end first.
 */
function grow(placing: Placing, free: readonly Instant[], task: number, share: number): Offer {
  const { costs, workflow } = placing.problem;
  const { widthMin, widthMax } = workflow.tasks[task] as WorkflowTask;
  const from = placing.processors.map((processor) => ({
    processor,
    at: Math.max(free[processor] as number, placing.readyAt(task, [processor])),
  }));
  from.sort(
    (one, other) =>
      one.at - other.at ||
      costs.capacity(other.processor) - costs.capacity(one.processor) ||
      one.processor - other.processor,
  );
  let [best, capacity]: [Offer | undefined, number] = [undefined, 0];
  const chosen: number[] = [];
  for (const { processor } of from) {
    if (chosen.length >= widthMin && (capacity >= share || chosen.length >= widthMax)) break;
    chosen.push(processor);
    capacity += costs.capacity(processor);
    if (chosen.length < widthMin) continue;
    const offer = placing.offerBehind(
      free,
      task,
      chosen.toSorted((one, other) => one - other),
    );
    if (best === undefined || offer.end < best.end) best = offer;
  }
  return best ?? placing.gangOffer(task);
}

function findEarliest(placing: Placing, free: readonly Instant[], task: number, grown: Offer): Offer {
  let best = grown;
  for (const processor of placing.processors) {
    const offer = placing.offerBehind(free, task, [processor]);
    if (offer.end < best.end) best = offer;
  }
  return best;
}
