import { freeProcessors, usableProcessors } from '../../../bag/index.ts';
import type { FreeResources } from '../../../resources/index.ts';
import type { TaskIndex } from '../../../shared/index.ts';
import { avoidedUntil } from '../dispatch/avoidance.ts';
import { matchesQueue } from '../dispatch/matching.ts';
import { dispatchBatch } from '../dispatch/dispatch-batch.ts';
import { keepsAway } from '../times/remaining-time.ts';
import type { BrokerJob, BrokerMachine, GroupSpan, OpenTask, TaskQueue } from '../state.ts';
import { getRoom } from '../jobs/serving-order.ts';
import { findWholeQueue, getGroup } from '../jobs/task-groups.ts';
import { getIdentity } from './trust-records.ts';
import { type Turn, wakeBy } from '../turn.ts';
import { hasVotedOn, isVotedOn, runsMissing } from './votes.ts';

/** How many replicas of a queue may wait at a machine. */
export type GetDepth = (queue: TaskQueue, machine: BrokerMachine) => number;

/**
 * Gives machines the further runs that votes need, before any new task: tasks that have begun are decided first, so
 * that few results lie about.
 *
 * Machines with free processors come first, then the queues of the others. Cost: O(open tasks of jobs that vote x
 * machines) at most.
 */
export function dispatchVotes(turn: Turn, machines: readonly BrokerMachine[], getDepth: GetDepth): void {
  for (const job of turn.state.openJobs.values()) {
    if (!isVotedOn(job) || job.status !== 'running') continue;
    const round = new Round(turn, job, machines, getDepth);
    for (const task of job.tasks.values()) {
      if (!round.hasRoom) break;
      round.place(task, runsMissing(turn.state, job, task));
    }
    round.finish();
  }
}

/** A run that will vote, of a task of that group which asks for what that queue says. */
interface PlannedVote {
  readonly group: GroupSpan;
  readonly queue: TaskQueue;
  readonly index: TaskIndex;
}

/** The votes of one job that are placed in one step. */
class Round {
  readonly #turn: Turn;
  readonly #job: BrokerJob;
  readonly #getDepth: GetDepth;
  /** Machines that may take more, those with free processors first. */
  #open: BrokerMachine[];
  /** What is left of the resources of machines, once a run with a request is planned there. */
  readonly #left = new Map<BrokerMachine, FreeResources>();
  readonly #planned = new Map<BrokerMachine, PlannedVote[]>();
  /** How many more the job may have at machines. */
  #roomInJob: number;

  constructor(turn: Turn, job: BrokerJob, machines: readonly BrokerMachine[], getDepth: GetDepth) {
    this.#turn = turn;
    this.#job = job;
    this.#getDepth = getDepth;
    this.#roomInJob = getRoom(job);
    const queue = job.queues[0];
    this.#open =
      queue === undefined
        ? []
        : machines
            .filter((machine) => this.#roomOf(queue, machine) > 0)
            .toSorted((one, other) => freeProcessors(other) - freeProcessors(one));
  }

  get hasRoom(): boolean {
    return this.#open.length > 0 && this.#roomInJob > 0;
  }

  place(task: OpenTask, count: number): void {
    if (count === 0) return;
    const group = getGroup(this.#job, task.index);
    const queue = findWholeQueue(this.#job, task.index);
    const identities = new Set<string>();
    for (const machine of [...this.#open]) {
      if (identities.size === count || this.#roomInJob === 0) return;
      const identity = getIdentity(machine.facts);
      if (identities.has(identity) || !this.#suits(machine, queue, task)) continue;
      identities.add(identity);
      const planned = this.#planned.get(machine) ?? [];
      this.#planned.set(machine, planned);
      this.#roomInJob--;
      planned.push({ group, queue, index: task.index });
      this.#take(machine, queue);
      if (this.#roomOf(queue, machine) <= 0) this.#open = this.#open.filter((other) => other !== machine);
    }
  }

  /** Places what was planned, a batch for each machine and group. */
  finish(): void {
    for (const [machine, planned] of this.#planned) {
      for (const group of new Set(planned.map((run) => run.group))) {
        const runs = planned.filter((run) => run.group === group);
        for (const queue of new Set(runs.map((run) => run.queue))) {
          const taskIndexes = runs
            .filter((run) => run.queue === queue)
            .map((run) => run.index)
            .sort((one, other) => one - other);
          dispatchBatch(this.#turn, machine, { job: this.#job, group, taskIndexes });
        }
      }
    }
  }

  #roomOf(queue: TaskQueue, machine: BrokerMachine): number {
    const { processors, resources } = queue;
    // A task that waits for something other than processors must not keep the tasks behind it from free ones.
    if (resources !== undefined && !(this.#left.get(machine) ?? machine.resources).fits(resources)) return 0;
    const capacity = usableProcessors(machine) + this.#getDepth(queue, machine) * processors;
    return Math.floor((capacity - machine.heldProcessors) / processors) - (this.#planned.get(machine)?.length ?? 0);
  }

  /** Takes note of what a planned run holds in addition to processors. */
  #take(machine: BrokerMachine, { resources }: TaskQueue): void {
    if (resources === undefined) return;
    const left = this.#left.get(machine) ?? machine.resources.clone();
    this.#left.set(machine, left);
    left.take(resources);
  }

  #suits(machine: BrokerMachine, queue: TaskQueue, task: OpenTask): boolean {
    if (queue.resources !== undefined && this.#roomOf(queue, machine) <= 0) return false;
    if (hasVotedOn(task, machine) || !matchesQueue(queue, machine) || keepsAway(this.#turn, queue, machine))
      return false;
    const until = avoidedUntil(this.#turn, machine, { queue, task });
    if (until !== undefined) wakeBy(this.#turn, until);
    return until === undefined;
  }
}
