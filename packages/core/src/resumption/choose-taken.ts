import type { JobSpec } from '../messages/index.ts';
import type { Cause, Reason } from '../reasons/index.ts';
import type { TaskIndex } from '../shared/index.ts';
import { listTasks } from './list-tasks.ts';
import type { TaskMatch } from './match-tasks.ts';

/** What is known of the results of an earlier job's tasks. */
export interface FormerResults {
  readonly spec: JobSpec;
  /** Why a task's result cannot be reused; undefined where it can. */
  getFault(former: TaskIndex): Cause | undefined;
  /** Whether an output without a place at home is no longer stored: that matters only if a task that runs reads it. */
  isGone(former: TaskIndex, path: string): boolean;
}

/** A task that is not taken over, and why. */
export interface TaskToRun {
  readonly taskIndex: TaskIndex;
  readonly reason: Cause;
}

/** Which tasks of a job need not run. */
export interface Choice {
  /** By task: the one of the earlier job whose result it has. What such a task waits for is taken too. */
  readonly taken: ReadonlyMap<TaskIndex, TaskIndex>;
  /** All others, by index. */
  readonly runs: readonly TaskToRun[];
}

/**
 * Chooses what is taken over: a task that did the same and finished, whose result is there, and all before which is
 * taken over too, from the tasks that it
 * waited for then. Cost: O(tasks and edges).
 */
export function chooseTaken(next: JobSpec, matches: readonly TaskMatch[], results: FormerResults): Choice {
  return new Chooser(next, matches, results).choose();
}

class Chooser {
  readonly #matches: readonly TaskMatch[];
  readonly #results: FormerResults;
  readonly #inputs: readonly (readonly { readonly writer: TaskIndex; readonly path: string }[])[];
  readonly #before: readonly ReadonlySet<TaskIndex>[];
  readonly #behind: readonly ReadonlySet<TaskIndex>[];
  readonly #formerBefore: readonly ReadonlySet<TaskIndex>[];
  readonly #formerWriters: readonly (readonly TaskIndex[])[];
  readonly #runs = new Map<TaskIndex, Cause>();

  constructor(next: JobSpec, matches: readonly TaskMatch[], results: FormerResults) {
    this.#matches = matches;
    this.#results = results;
    this.#inputs = listReads(next);
    this.#before = neighbours(next, matches.length, ({ from, to }) => [to, from]);
    this.#behind = neighbours(next, matches.length, ({ from, to }) => [from, to]);
    const formerReads = listReads(results.spec);
    this.#formerBefore = neighbours(results.spec, formerReads.length, ({ from, to }) => [to, from]);
    this.#formerWriters = formerReads.map((reads) => reads.map(({ writer }) => writer));
  }

  choose(): Choice {
    for (const [index, match] of this.#matches.entries()) {
      const reason =
        match.kind === 'other'
          ? match.reason
          : (this.#results.getFault(match.former) ?? this.#findOtherNeighbours(index, match.former));
      if (reason !== undefined) this.#runs.set(index, reason);
    }
    // A map is walked through to its end, what is added meanwhile included.
    for (const index of this.#runs.keys()) this.#runBecauseOf(index);
    const taken = new Map<TaskIndex, TaskIndex>();
    for (const [index, match] of this.#matches.entries())
      if (match.kind === 'same' && !this.#runs.has(index)) taken.set(index, match.former);
    const runs = [...this.#runs]
      .map(([taskIndex, reason]) => ({ taskIndex, reason }))
      .sort((one, other) => one.taskIndex - other.taskIndex);
    return { taken, runs };
  }

  /** What is behind a task that runs runs too, and so does what wrote its inputs, should they be gone. */
  #runBecauseOf(index: TaskIndex): void {
    for (const behind of this.#behind[index] ?? [])
      if (!this.#runs.has(behind)) this.#runs.set(behind, { code: 'rerun-after-task', taskIndex: index });
    for (const { writer, path } of this.#inputs[index] ?? []) {
      const match = this.#matches[writer];
      if (this.#runs.has(writer) || match?.kind !== 'same' || !this.#results.isGone(match.former, path)) continue;
      this.#runs.set(writer, { code: 'rerun-output-gone', path, readerTaskIndex: index });
    }
  }

  /** Its inputs have the same names; they are the same only where they come from the same tasks. */
  #findOtherNeighbours(index: TaskIndex, former: TaskIndex): Reason | undefined {
    const getFormer = (task: TaskIndex): TaskIndex | undefined => {
      const match = this.#matches[task];
      return match?.kind === 'same' ? match.former : undefined;
    };
    const before = [...(this.#before[index] ?? [])];
    const changed = before.find((task) => getFormer(task) === undefined);
    if (changed !== undefined) return { code: 'rerun-after-task', taskIndex: changed };
    const writers = this.#inputs[index] ?? [];
    const formerWriters = this.#formerWriters[former] ?? [];
    const isSame =
      before.length === this.#formerBefore[former]?.size &&
      before.every((task) => this.#formerBefore[former]?.has(getFormer(task) ?? -1) === true) &&
      writers.every(({ writer }, position) => getFormer(writer) === formerWriters[position]);
    return isSame ? undefined : { code: 'rerun-predecessors-differ' };
  }
}

/** By task: what it reads of others, in the order of its inputs. */
function listReads(spec: JobSpec): { readonly writer: TaskIndex; readonly path: string }[][] {
  return listTasks(spec).map(({ group }) =>
    group.inputs.flatMap(({ source }) =>
      source.kind === 'output' ? [{ writer: source.taskIndex, path: source.path }] : [],
    ),
  );
}

function neighbours(
  { edges = [] }: JobSpec,
  taskCount: number,
  ofEdge: (edge: { readonly from: TaskIndex; readonly to: TaskIndex }) => readonly [TaskIndex, TaskIndex],
): Set<TaskIndex>[] {
  const sets = Array.from({ length: taskCount }, () => new Set<TaskIndex>());
  for (const edge of edges) {
    const [task, neighbour] = ofEdge(edge);
    sets[task]?.add(neighbour);
  }
  return sets;
}
