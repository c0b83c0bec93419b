import { freeProcessors } from '../../../bag/index.ts';
import { SeatPlan } from './gang-seats.ts';
import type { GangSeat } from './gang.ts';
import { matchesQueue } from '../dispatch/matching.ts';
import { ReadyOrder } from '../workflow/ready-order.ts';
import { keepsAway } from '../times/remaining-time.ts';
import type { BrokerMachine, BrokerProvider, TaskQueue } from '../state.ts';
import { isServedBefore } from '../jobs/serving-order.ts';
import { findOwnMemory, getGroup } from '../jobs/task-groups.ts';
import { buildStart } from '../dispatch/start-of.ts';
import { commit, type Turn, wakeBy } from '../turn.ts';

/**
 * Places gangs whose processors are all free at one provider, and keeps processors that become free for the next ones.
 *
 * A gang gets its processors all at once or none, in one step, so two of them never wait for each other. At each
 * provider one gang at a time is *gathered*: no other task is placed on the machines that it may use until enough of
 * them is free; it then gets the fewest that are enough. Jobs take turns: the one whose last gang was placed longest
 * ago is next, so that none waits for all the tasks of another. If tasks of a job before its own wait for the same
 * machines, some of them are placed between two gangs. A gang never asks to be woken: it waits for an event.
 *
 * Cost: O(open jobs + queues with gangs x machines).
 *
 * @param machines those that may get tasks.
 * @param others queues of ready tasks that are not gangs.
 * @returns machines that gangs wait for.
 */
export function dispatchGangs(
  turn: Turn,
  machines: readonly BrokerMachine[],
  others: readonly TaskQueue[],
): ReadonlySet<BrokerMachine> {
  const line = waitingQueues(turn);
  if (line.length === 0) return new Set();
  const hall = new Hall(turn, machines, others);
  let queue: TaskQueue | undefined;
  while ((queue = line[0]) !== undefined) {
    // Another queue of the job may have used up what it may run at once.
    const hasDispatched = queue.readyCount > 0 && hall.serve(queue);
    line.shift();
    // Behind all others, whose last gangs were placed before this one.
    if (hasDispatched && queue.readyCount > 0) line.push(queue);
  }
  return hall.kept;
}

/**
 * Notes that the jobs owed a turn between two gangs have had it: a machine that is free though tasks of an earlier job
 * would fit was left by them, so that gangs need not wait for these. Then the step is run again. Cost: O(machines x
 * queues) if a turn is owed, else O(providers).
 */
export function settleTurns(turn: Turn, machines: readonly BrokerMachine[], others: readonly TaskQueue[]): void {
  for (const provider of turn.state.providers.values()) {
    if (!provider.owesTurn) continue;
    const wasLeft = machines.some(
      (machine) =>
        machine.provider === provider &&
        freeProcessors(machine) > 0 &&
        others.some((queue) => queue.readyCount > 0 && matchesQueue(queue, machine)),
    );
    if (!wasLeft) continue;
    provider.owesTurn = false;
    wakeBy(turn, turn.now + 1);
  }
}

/** Queues with gangs that wait, in the order in which they are served. Cost: O(open jobs). */
function waitingQueues(turn: Turn): TaskQueue[] {
  const waiting: TaskQueue[] = [];
  for (const job of turn.state.openJobs.values()) {
    if (!job.isGang || job.status !== 'running') continue;
    const ready = job.queues.filter(({ readyCount }) => readyCount > 0);
    if (ready.length === 0) continue;
    if (job.gangsPausedUntil > turn.now) wakeBy(turn, job.gangsPausedUntil);
    else waiting.push(...ready);
  }
  const [first] = waiting;
  // By turns, unless the users set priorities.
  return waiting.every(({ job }) => job.priority === first?.job.priority)
    ? waiting.sort((one, other) => one.job.lastGangId - other.job.lastGangId)
    : waiting;
}

/** A provider where a gang may be. */
interface Site {
  readonly provider: BrokerProvider;
  readonly plan: SeatPlan;
  /** Infinity where too little is free. */
  readonly members: number;
}

/** Fewer members are better; where there is no room at either, less that is missing. */
function isBetter(one: Site, other: Site): boolean {
  return (
    one.members < other.members ||
    (one.members === Infinity && other.members === Infinity && one.plan.free > other.plan.free)
  );
}

/** The providers' machines in one step, as gangs see them. */
class Hall {
  readonly kept = new Set<BrokerMachine>();
  readonly #turn: Turn;
  readonly #others: readonly TaskQueue[];
  readonly #machines = new Map<BrokerProvider, BrokerMachine[]>();
  /** Those that have nothing for a gang that comes later. */
  readonly #closed = new Set<BrokerProvider>();
  readonly #plans = new Map<BrokerProvider, Map<TaskQueue, SeatPlan>>();
  readonly #order = new ReadyOrder();

  constructor(turn: Turn, machines: readonly BrokerMachine[], others: readonly TaskQueue[]) {
    this.#turn = turn;
    this.#others = others;
    for (const machine of machines) {
      if (machine.facts.takesGangs !== true) continue;
      const ofProvider = this.#machines.get(machine.provider);
      if (ofProvider === undefined) this.#machines.set(machine.provider, [machine]);
      else ofProvider.push(machine);
    }
  }

  /**
   * Places the queue's next gang, or has its machines kept at the provider where least is missing. @returns whether it
   * was placed.
   */
  serve(queue: TaskQueue): boolean {
    let best: Site | undefined;
    for (const provider of this.#machines.keys()) {
      const site = this.#siteAt(provider, queue);
      if (site !== undefined && (best === undefined || isBetter(site, best))) best = site;
    }
    if (best === undefined) return false;
    if (best.members < Infinity) {
      this.#place(queue, best.provider, best.plan);
      return true;
    }
    this.#closed.add(best.provider);
    for (const machine of best.plan.machines) this.kept.add(machine);
    return false;
  }

  /** Undefined where nothing may be placed or kept for it there. */
  #siteAt(provider: BrokerProvider, queue: TaskQueue): Site | undefined {
    if (this.#closed.has(provider)) return undefined;
    const plan = this.#planOf(provider, queue);
    if (plan.capacity < queue.processors || this.#owesTurn(provider, queue, plan)) return undefined;
    return { provider, plan, members: plan.countMembers(queue.processors) };
  }

  #planOf(provider: BrokerProvider, queue: TaskQueue): SeatPlan {
    let plans = this.#plans.get(provider);
    if (plans === undefined) this.#plans.set(provider, (plans = new Map()));
    let plan = plans.get(queue);
    if (plan === undefined) {
      const machines = (this.#machines.get(provider) ?? []).filter(
        (machine) => matchesQueue(queue, machine) && !keepsAway(this.#turn, queue, machine),
      );
      plans.set(queue, (plan = new SeatPlan(machines, queue)));
    }
    return plan;
  }

  /** Whether tasks of a job before the gang's come first now at the provider. */
  #owesTurn(provider: BrokerProvider, { job }: TaskQueue, { machines }: SeatPlan): boolean {
    if (!provider.owesTurn) return false;
    const owes = this.#others.some(
      (other) =>
        isServedBefore(other.job, job) &&
        machines.some((machine) => matchesQueue(other, machine) && !keepsAway(this.#turn, other, machine)),
    );
    if (!owes) provider.owesTurn = false;
    return owes;
  }

  #place(queue: TaskQueue, provider: BrokerProvider, plan: SeatPlan): void {
    const [taskIndex] = this.#order.getTasks(queue);
    if (taskIndex === undefined) return;
    this.#begin(queue, taskIndex, plan.take(queue.processors));
    for (const [other, stale] of this.#plans.get(provider) ?? [])
      if (other !== queue || queue.resources !== undefined) stale.look();
    provider.owesTurn = this.#others.some(({ job }) => isServedBefore(job, queue.job));
  }

  #begin(queue: TaskQueue, taskIndex: number, seats: readonly GangSeat<BrokerMachine>[]): void {
    const { state, now, commands } = this.#turn;
    const gangId = state.nextReplicaId;
    const { jobId } = queue.job;
    const { groupIndex } = getGroup(queue.job, taskIndex);
    const memory = findOwnMemory(queue.job, taskIndex);
    commit(this.#turn, {
      kind: 'GangDispatched',
      jobId,
      taskIndex,
      firstReplicaId: gangId,
      at: now,
      seats: seats.map(
        ({
          machine: {
            facts: { machineId },
          },
          processors,
        }) => ({ machineId, processors }),
      ),
    });
    for (const [
      rank,
      {
        machine: {
          provider: { providerId },
          facts: { machineId },
        },
        processors,
      },
    ] of seats.entries()) {
      commands.push({
        kind: 'StartReplicas',
        providerId,
        machineId,
        jobId,
        groupIndex,
        starts: [buildStart(state, queue.job, { replicaId: gangId + rank, taskIndex })],
        gang: { gangId, rank, members: seats.length, processors },
        ...(memory === undefined ? {} : { memory }),
      });
    }
  }
}
