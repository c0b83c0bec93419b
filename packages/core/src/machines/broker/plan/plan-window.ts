import { Heap, type Bytes, type Duration, type Instant, type TaskIndex } from '../../../shared/index.ts';
import type { WorkflowEdge } from '../../../workflow/index.ts';
import { type Dependencies, listSuccessors } from '../workflow/dependencies.ts';
import { findDispatchable } from '../dispatch/hold-back.ts';
import { canBePlanned, getExpectedEnd, levelUnit, timeAtPar } from './planned-times.ts';
import type { BrokerJob, BrokerMachine, BrokerReplica, BrokerState, OpenTask, Planning, TaskQueue } from '../state.ts';
import { priorityPoint } from '../jobs/serving-order.ts';
import { findWholeQueue, getGroup } from '../jobs/task-groups.ts';

/** A task as it is planned. */
export interface WindowTask {
  readonly job: BrokerJob;
  readonly queue: TaskQueue;
  readonly index: TaskIndex;
  /** On a machine that is like most. */
  readonly time: Duration;
  /**
   * The time of its successors beyond the window, plus the time that its job has waited: the longest wait goes first.
   */
  after: Duration;
  /** Where it runs, for one that has begun. */
  readonly runs:
    | {
        readonly replica: BrokerReplica | undefined;
        readonly machine: BrokerMachine | undefined;
        readonly end: Instant;
      }
    | undefined;
}

/** What is planned in detail: each task after those that it waits for. */
export interface PlanWindow {
  readonly tasks: readonly WindowTask[];
  /** Tasks by their place in `tasks`. */
  readonly edges: readonly { readonly from: number; readonly to: number; readonly data: Bytes }[];
  /** More is ready or waits behind it. */
  readonly isPartial: boolean;
}

/** A task that could come next. */
interface Candidate {
  readonly job: BrokerJob;
  readonly queue: TaskQueue;
  readonly index: TaskIndex;
  /** The way to its job's end, and for how long that has been there. */
  readonly urgency: Duration;
}

/** What the window is chosen by. */
export interface WindowSetup {
  readonly state: BrokerState;
  readonly now: Instant;
  readonly countMax: number;
  /** Whether a machine that is there would do. */
  readonly hasMachine: (queue: TaskQueue) => boolean;
}

/**
 * Chooses the tasks to plan in detail: of all jobs under a plan, those with the longest way to the end of their job,
 * each after its predecessors. The rest counts as time after them.
 *
 * Cost: O(ready tasks of workflows + window x (log ready + edges of a task)); of bags only as many tasks are visited as
 * the window holds.
 */
export function chooseWindow(setup: WindowSetup): PlanWindow {
  const chosen = new Chooser(setup);
  for (const job of setup.state.openJobs.values())
    if (job.status === 'running' && job.scheduler === 'plan') chosen.open(job);
  return chosen.finish();
}

class Chooser {
  readonly #setup: WindowSetup;
  readonly #planning: Planning;
  readonly #heap = new Heap<Candidate>(comesBefore);
  readonly #tasks: WindowTask[] = [];
  /** Places in `#tasks`, by job and index. */
  readonly #places = new Map<BrokerJob, Map<TaskIndex, number>>();
  /** What tasks still wait for, as far as that is not in the window. */
  readonly #unmet = new Map<BrokerJob, Map<TaskIndex, number>>();
  readonly #usable = new Map<TaskQueue, boolean>();
  #isPartial = false;

  constructor(setup: WindowSetup) {
    this.#setup = setup;
    this.#planning = setup.state.planning;
  }

  /** Adds the running and the ready tasks of a job. */
  open(job: BrokerJob): void {
    if (job.dependencies !== undefined)
      for (const task of job.tasks.values())
        if (task.status === 'running' || task.status === 'verifying') this.#addRunning(job, task);
    for (const queue of job.queues) {
      if (!this.#isUsable(queue)) continue;
      let count = 0;
      for (let index = findDispatchable(queue, 0); index !== undefined; index = findDispatchable(queue, index + 1)) {
        if (job.dependencies === undefined && count++ >= this.#setup.countMax) {
          this.#isPartial = true;
          break;
        }
        this.#offer(job, queue, index);
      }
    }
  }

  finish(): PlanWindow {
    const { countMax } = this.#setup;
    for (let count = 0; count < countMax; count++) {
      const next = this.#heap.pop();
      if (next === undefined) break;
      const { job, queue, index } = next;
      const time = timeAtPar(this.#planning, job, index) ?? 0;
      this.#add({ job, queue, index, time, after: this.#ageOf(job), runs: undefined });
    }
    return { tasks: this.#tasks, edges: this.#edges(), isPartial: this.#isPartial || this.#heap.size > 0 };
  }

  #isUsable(queue: TaskQueue): boolean {
    let found = this.#usable.get(queue);
    if (found === undefined)
      this.#usable.set(queue, (found = canBePlanned(this.#setup.state, queue) && this.#setup.hasMachine(queue)));
    return found;
  }

  #offer(job: BrokerJob, queue: TaskQueue, index: TaskIndex): void {
    const way =
      job.dependencies === undefined
        ? (timeAtPar(this.#planning, job, index) ?? 0)
        : this.#levelOf(job, job.dependencies, index);
    this.#heap.push({ job, queue, index, urgency: way + this.#ageOf(job) });
  }

  #levelOf(job: BrokerJob, { levels }: Dependencies, index: TaskIndex): Duration {
    return (levels[index] ?? 0) * levelUnit(this.#planning, job);
  }

  #ageOf({ submittedAt, priority }: BrokerJob): Duration {
    return this.#setup.now - submittedAt + priority * priorityPoint;
  }

  #addRunning(job: BrokerJob, task: OpenTask): void {
    const { now } = this.#setup;
    let [first, end]: [BrokerReplica | undefined, Instant] = [undefined, task.status === 'verifying' ? now : Infinity];
    for (const replica of task.replicas) {
      const at = getExpectedEnd(this.#planning, replica, now);
      if (at < end) [first, end] = [replica, at];
    }
    const machine = first?.machine ?? this.#setup.state.machines.get(task.successes?.[0]?.machineId ?? '');
    // Successors of a task without a known end are not planned.
    if (end < Infinity)
      this.#add({
        job,
        queue: findWholeQueue(job, task.index),
        index: task.index,
        time: 0,
        after: 0,
        runs: { replica: first, machine, end },
      });
  }

  #add(task: WindowTask): void {
    const { job, index } = task;
    const places = this.#places.get(job) ?? new Map<TaskIndex, number>();
    this.#places.set(job, places);
    places.set(index, this.#tasks.length);
    this.#tasks.push(task);
    if (job.dependencies === undefined) return;
    const unmet = this.#unmet.get(job) ?? new Map<TaskIndex, number>();
    this.#unmet.set(job, unmet);
    for (const successor of listSuccessors(job.dependencies, index)) {
      const left = (unmet.get(successor) ?? job.dependencies.unmet[successor] ?? 0) - 1;
      unmet.set(successor, left);
      if (left > 0 || !job.dependencies.waiting.has(successor)) continue;
      this.#offerSuccessor(job, successor);
    }
  }

  #offerSuccessor(job: BrokerJob, successor: TaskIndex): void {
    const { queue } = getGroup(job, successor);
    if (!job.held.has(successor) && this.#isUsable(queue)) this.#offer(job, queue, successor);
  }

  /** The edges within the window; for those that lead out of it, what comes after. */
  #edges(): { readonly from: number; readonly to: number; readonly data: Bytes }[] {
    const edges: { from: number; to: number; data: Bytes }[] = [];
    for (const [from, task] of this.#tasks.entries()) {
      const { job, index } = task;
      const { dependencies } = job;
      const places = this.#places.get(job);
      if (dependencies === undefined || places === undefined) continue;
      const { workflow } = dependencies;
      const beyond: TaskIndex[] = [];
      for (const edge of workflow.outgoing[index] ?? []) {
        const { to, data } = workflow.edges[edge] as WorkflowEdge;
        const place = places.get(to);
        if (place === undefined) beyond.push(to);
        else edges.push({ from, to: place, data });
      }
      if (task.runs === undefined)
        task.after += beyond.reduce((way, to) => Math.max(way, this.#levelOf(job, dependencies, to)), 0);
    }
    return edges;
  }
}

function comesBefore(one: Candidate, other: Candidate): boolean {
  if (one.urgency !== other.urgency) return one.urgency > other.urgency;
  return one.job.jobId < other.job.jobId || (one.job === other.job && one.index < other.index);
}
