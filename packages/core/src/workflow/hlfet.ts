import { Heap, type Instant } from '../shared/index.ts';
import { bLevels } from './levels.ts';
import { meanCosts, Placing, type Offer } from './placing.ts';
import type { SchedulingProblem, WorkflowScheduler } from './scheduling-problem.ts';
import type { WorkflowEdge, WorkflowTask } from './workflow.ts';

/**
 * HLFET: whenever a processor is free, it takes the ready task with the greatest b-level; of several free processors
 * the first. It ignores the processors' speeds and keeps none idle, as a grid without a plan does.
 *
 * Cost: O(tasks x processors + tasks log tasks + tasks x edges of a task).
 *
 * @source Adam, Chandy and Dickson, "A comparison of list schedules for parallel processing systems" (1974), HLFET.
 * Departs from the source: b-levels with transfers, since processors differ; a rigid task of several processors goes
 * where it ends first.
 */
export const hlfet: WorkflowScheduler = {
  name: 'hlfet',
  schedule(problem) {
    const placing = new Placing(problem);
    const tasks = new ReadyTasks(problem);
    for (;;) {
      const freeAt = placing.processors.reduce(
        (first, processor) => Math.min(first, placing.freeFrom(processor)),
        Infinity,
      );
      const next = tasks.take(freeAt);
      if (next === undefined) return placing.finish('hlfet');
      const { task, at } = next;
      const isWide = (problem.workflow.tasks[task] as WorkflowTask).widthMin > 1;
      tasks.release(
        task,
        placing.accept(task, isWide ? placing.gangOffer(task) : offerOfFirst(placing, task, at), 'first-free').end,
      );
    }
  },
};

/** What waits for nothing any more, by falling b-level, and what will. */
class ReadyTasks {
  readonly #problem: SchedulingProblem;
  readonly #levels: readonly number[];
  /** From when on each task may begin, as far as is known. */
  readonly #since: Instant[];
  readonly #unmet: number[];
  readonly #ready = new Heap<number>((one, other) => this.#comesBefore(one, other));
  readonly #coming = new Heap<number>(
    (one, other) =>
      this.#sinceOf(one) < this.#sinceOf(other) || (this.#sinceOf(one) === this.#sinceOf(other) && one < other),
  );

  constructor(problem: SchedulingProblem) {
    const { workflow, fixed, releasedAt, now } = problem;
    this.#problem = problem;
    this.#levels = bLevels(workflow, meanCosts(problem));
    this.#since = workflow.tasks.map((_, task) => Math.max(now, releasedAt[task] as number));
    this.#unmet = workflow.incoming.map(({ length }) => length);
    for (const task of workflow.tasks.keys())
      if (this.#unmet[task] === 0 && fixed[task] === undefined) this.#coming.push(task);
    for (const placement of fixed) if (placement !== undefined) this.release(placement.task, placement.end);
  }

  /** The task that comes next once a processor is free, and when it may begin; undefined when none is left. */
  take(freeAt: Instant): { readonly task: number; readonly at: Instant } | undefined {
    const first = this.#coming.first;
    const at = this.#ready.size > 0 || first === undefined ? freeAt : Math.max(freeAt, this.#sinceOf(first));
    while (this.#coming.first !== undefined && this.#sinceOf(this.#coming.first) <= at)
      this.#ready.push(this.#coming.pop() as number);
    const task = this.#ready.pop();
    return task === undefined ? undefined : { task, at: Math.max(at, this.#sinceOf(task)) };
  }

  /** Notes when a task ends that others wait for. */
  release(task: number, end: Instant): void {
    const { workflow, fixed } = this.#problem;
    for (const edge of workflow.outgoing[task] as readonly number[]) {
      const { to } = workflow.edges[edge] as WorkflowEdge;
      this.#since[to] = Math.max(this.#sinceOf(to), end);
      this.#unmet[to] = (this.#unmet[to] as number) - 1;
      if (this.#unmet[to] === 0 && fixed[to] === undefined) this.#coming.push(to);
    }
  }

  #sinceOf(task: number): Instant {
    return this.#since[task] as number;
  }

  #comesBefore(one: number, other: number): boolean {
    const [level, otherLevel] = [this.#levels[one] as number, this.#levels[other] as number];
    return level > otherLevel || (level === otherLevel && one < other);
  }
}

/** The first processor that is free by then and can take the task; where none can, the one on which it begins first. */
function offerOfFirst(placing: Placing, task: number, at: Instant): Offer {
  let [chosen, from]: [Offer | undefined, Instant] = [undefined, Infinity];
  for (const processor of placing.processors) {
    const free = Math.max(at, placing.freeFrom(processor));
    if (free >= from) continue;
    const offer = placing.getOffer(task, processor, false);
    if (offer.end === Infinity) continue;
    [chosen, from] = [offer, free];
    if (free === at) break;
  }
  return chosen ?? placing.getOffer(task, placing.processors[0] as number, false);
}
