import type { SchedulerName } from '../messages/index.ts';
import type { Bytes, Duration, TaskIndex } from '../shared/index.ts';
import type { BagMachine, BagQueue } from './bag.ts';
import type { DispatchPort } from './dispatch-ready.ts';

/**
 * What schedulers need to know and to do. The broker answers from its state, a simulation from its world, and demand
 * from imagined machines; nothing here belongs to the broker.
 */
export interface SchedulingPort<Machine extends BagMachine, Queue extends BagQueue>
  extends DispatchPort<Machine, Queue> {
  /** Ready tasks of the queue in the order of their indexes, `from` and later ones, `countMax` at most. */
  readyTasks(queue: Queue, from: TaskIndex, countMax: number): readonly TaskIndex[];
  /** Whether the task may go to a machine that matches its queue; false for one where it went wrong a moment ago. */
  suits(queue: Queue, task: TaskIndex, machine: Machine): boolean;
  /** Dispatches these ready tasks on a machine, in this order; each suits it. */
  dispatchTasks(machine: Machine, queue: Queue, tasks: readonly TaskIndex[]): void;
  /** How long the task is expected to run there; undefined where nothing is known of it. */
  taskTime(queue: Queue, task: TaskIndex, machine: Machine): Duration | undefined;
  /**
   * In how long each place for a task of the queue at the machine is expected to be free, ascending; 0 for those that
   * are.
   */
  waits(queue: Queue, machine: Machine): readonly Duration[];
  /** How long the machine stays, as the queue sees it; Infinity where it has no end. */
  timeLeft(queue: Queue, machine: Machine): Duration;
  /** Bytes of the task's inputs that the machine's storage holds, as far as is known. */
  bytesHeld(queue: Queue, task: TaskIndex, machine: Machine): Bytes;
  /**
   * Called when tasks of the queue wait for a better machine while another one idles: decide again when the estimates
   * differ.
   */
  lookAgain(queue: Queue): void;
  /** Whether the queue's tasks are dispatched by a plan; never where nothing plans. */
  isPlanned(queue: Queue): boolean;
  /**
   * Dispatches the tasks of these queues, all of them planned, that the plan starts now. @returns machines that are
   * kept for their next planned tasks.
   */
  dispatchPlanned(machines: readonly Machine[], queues: readonly Queue[]): ReadonlySet<Machine>;
}

/** How the tasks of a job come to machines; each scheduler is a file in this folder. */
export interface BagScheduler {
  readonly name: SchedulerName;
  /**
   * Whether idle processors get replicas of its running tasks: `where-data-are` prefers the machines that hold their
   * inputs.
   */
  readonly replication: 'none' | 'everywhere' | 'where-data-are';
  /**
   * Dispatches ready tasks.
   *
   * @param queues in the order of submission.
   * @returns machines whose free processors are kept for a task that is too wide for them.
   */
  dispatch<Machine extends BagMachine, Queue extends BagQueue>(
    machines: readonly Machine[],
    queues: readonly Queue[],
    port: SchedulingPort<Machine, Queue>,
  ): ReadonlySet<Machine>;
}
