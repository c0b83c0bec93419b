import type { TaskIndex } from '../../../shared/index.ts';
import { byLevel, type Dependencies } from './dependencies.ts';
import { findDispatchable } from '../dispatch/hold-back.ts';
import type { TaskQueue } from '../state.ts';

/** Ready tasks of a workflow, sorted, and the first of them that may still be placed. */
interface Ranking {
  readonly tasks: readonly TaskIndex[];
  from: number;
}

/**
 * In which order the ready tasks of a queue are served, in one turn: those of a bag by their indexes; those of a
 * workflow by the longest way from their beginning to the end of their job, so that the critical path comes first.
 *
 * Cost: O(ready log ready) for each workflow with a placed task in the turn, whatever the number of machines.
 */
export class ReadyOrder {
  readonly #rankings = new Map<TaskQueue, Ranking>();

  /** Those that may be placed, in their order; what is placed meanwhile does not come any more. */
  *getTasks(queue: TaskQueue): Generator<TaskIndex> {
    const { dependencies } = queue.job;
    if (dependencies !== undefined) {
      yield* rankedTasks(queue, this.#rankingOf(queue, dependencies));
      return;
    }
    for (let task = findDispatchable(queue, 0); task !== undefined; task = findDispatchable(queue, task + 1))
      yield task;
  }

  #rankingOf(queue: TaskQueue, dependencies: Dependencies): Ranking {
    let ranking = this.#rankings.get(queue);
    if (ranking === undefined)
      this.#rankings.set(queue, (ranking = { tasks: [...queue.ready.values()].sort(byLevel(dependencies)), from: 0 }));
    return ranking;
  }
}

function* rankedTasks(queue: TaskQueue, ranking: Ranking): Generator<TaskIndex> {
  const { tasks } = ranking;
  const mayBeAssigned = (task: TaskIndex): boolean => queue.ready.has(task) && !queue.heldBack.has(task);
  while (ranking.from < tasks.length && !mayBeAssigned(tasks[ranking.from] as TaskIndex)) ranking.from++;
  for (let at = ranking.from; at < tasks.length; at++)
    if (mayBeAssigned(tasks[at] as TaskIndex)) yield tasks[at] as TaskIndex;
}
