// What it costs to schedule workflows of 1,000 to 10,000 tasks on 100 processors of unlike speed, and how that grows.
// The graph: layers of 50 tasks, each waiting for three of the layer before.
import { Prng } from '@mutirao/core/shared';
import {
  candidates,
  findScheduleFault,
  freshProblem,
  heft,
  makeWorkflow,
  platformCosts,
  type SchedulingProblem,
} from '@mutirao/core/workflow';
import { below, plain, report, type Figure } from './harness.ts';

const layer = 50;

/** A workflow that is the same each time. */
function layered(taskCount: number, processorCount: number): SchedulingProblem {
  const prng = new Prng(`layered ${taskCount}`);
  const tasks = Array.from({ length: taskCount }, (_, index) => ({
    id: `t${index}`,
    work: 100 + prng.below(900),
    widthMin: 1,
    widthMax: 8,
  }));
  const edges = tasks.slice(layer).flatMap((_, index) => {
    const first = layer * Math.floor(index / layer);
    const parents = new Set([prng.below(layer), prng.below(layer), prng.below(layer)]);
    return [...parents].map((parent) => ({
      from: `t${first + parent}`,
      to: `t${index + layer}`,
      data: 1_000_000 * prng.below(20),
    }));
  });
  const workflow = makeWorkflow({ tasks, edges });
  const processors = Array.from({ length: processorCount }, (_, index) => ({
    name: `p${index}`,
    speed: 50 + prng.below(100),
  }));
  return freshProblem(
    workflow,
    platformCosts(workflow, { processors, startUp: 0.1, bandwidth: 125e6 }),
    processorCount,
  );
}

for (const scheduler of candidates) scheduler.schedule(layered(1_000, 100)); // What is measured is compiled code.

const figures: Figure[] = [];
for (const scheduler of candidates) {
  const times: number[] = [];
  for (const taskCount of [1_000, 3_000, 10_000]) {
    const problem = layered(taskCount, 100);
    const start = performance.now();
    const schedule = scheduler.schedule(problem);
    const seconds = (performance.now() - start) / 1000;
    const fault = findScheduleFault(problem, schedule);
    if (fault !== undefined) throw new Error(JSON.stringify(fault));
    times.push(seconds);
    const name = `${scheduler.name}, ${taskCount} tasks on 100 processors`;
    figures.push(taskCount === 10_000 && scheduler === heft ? below(name, seconds, 's', 5) : plain(name, seconds, 's'));
  }
  const [first = NaN, , last = NaN] = times;
  // O(tasks^2 x processors) allows 100 times.
  figures.push(below(`${scheduler.name}, time of 10000 tasks over that of 1000`, last / first, 'x', 100));
}
report('workflow schedulers', figures);
