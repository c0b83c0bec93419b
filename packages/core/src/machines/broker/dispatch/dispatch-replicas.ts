import { getAllowance, freeProcessors, IdleSlots, dispatchQueues, orderByWork } from '../../../bag/index.ts';
import type { ProcessorCount } from '../../../shared/index.ts';
import { preemptSpeculative } from './preempt-speculative.ts';
import { holdBackLeased, isKeptFor } from './hold-back.ts';
import { dispatchGangs, settleTurns } from '../gangs/dispatch-gangs.ts';
import { dispatchVotes } from '../trust/dispatch-votes.ts';
import { dispatchWhereWritten } from './dispatch-where-written.ts';
import { refreshPlan } from '../plan/refresh-plan.ts';
import { replicateTasks } from './replicate-tasks.ts';
import { isPacked, schedulingPort } from './scheduling-port.ts';
import { type BrokerMachine, isHere, type TaskQueue } from '../state.ts';
import { listRequests } from '../jobs/task-groups.ts';
import { findDrain, isDraining } from '../machines/takes-work.ts';
import { isQuarantined } from '../trust/trust-records.ts';
import { type Turn, wakeBy } from '../turn.ts';
import { withdrawWaiting } from './withdraw-waiting.ts';

/**
 * Gives machines work: ready tasks first; when none is left, tasks that wait in the queues of busy machines are asked
 * back for idle ones, and machines that are still idle get replicas of running tasks. Replicas beyond a job's cap are
 * given up. Gangs come first of all, so that the processors that they wait for go to no other task.
 */
export function dispatchReplicas(turn: Turn): void {
  if (turn.state.openJobs.size === 0) return;
  const held = holdBackLeased(turn);
  const machines = usableMachines(turn);
  refreshPlan(turn, machines);
  const gathering = dispatchGangs(turn, machines, readyQueues(turn));
  const queues = machines.length > 0 ? fillMachines(turn, machines, { held, gathering }) : readyQueues(turn);
  preemptSpeculative(turn, { ready: queues, gathering });
  for (const { heldBack } of held) heldBack.clear();
}

/** Tasks and machines that dispatch must not touch. */
interface KeptBack {
  /** Queues of which something is held back. */
  readonly held: ReadonlySet<TaskQueue>;
  /** Machines that a gang waits for. */
  readonly gathering: ReadonlySet<BrokerMachine>;
}

/** @returns the queues that were served. */
function fillMachines(turn: Turn, all: readonly BrokerMachine[], { held, gathering }: KeptBack): readonly TaskQueue[] {
  const machines = gathering.size === 0 ? all : all.filter((machine) => !gathering.has(machine));
  const port = schedulingPort(turn);
  dispatchVotes(turn, machines, port.prefetchDepth);
  const queues = readyQueues(turn);
  dispatchWhereWritten(turn, machines, { queues, port });
  const kept = dispatchQueues(machines, inPackingOrder(queues, machines), port);
  // A task that has just begun may need several votes.
  dispatchVotes(turn, machines, port.prefetchDepth);
  settleTurns(turn, machines, queues);
  const idle = new IdleSlots(
    machines.filter((machine) => freeProcessors(machine) > 0 && !kept.has(machine) && !isKeptFor(held, machine)),
  );
  if (!idle.isEmpty) withdrawWaiting(turn, all, idle);
  if (!idle.isEmpty) replicateTasks(turn, idle, queues);
  return queues;
}

/** Machines that something may be dispatched on now. */
function usableMachines(turn: Turn): BrokerMachine[] {
  const usable: BrokerMachine[] = [];
  const widest = widestTask(turn);
  for (const machine of turn.state.machines.values()) {
    if (!isHere(machine) || (machine.facts.until !== undefined && machine.facts.until <= turn.now)) continue;
    if (
      isDraining(machine.provider) ||
      isQuarantined(turn.state, machine) ||
      findDrain(turn.state, machine) !== undefined
    )
      continue;
    if (machine.quarantinedUntil > turn.now) wakeBy(turn, machine.quarantinedUntil);
    else usable.push(machine);
    // A provider knows what its allocations have; the claims of other machines cannot be checked.
    if (machine.facts.requestId === '') machine.allowance = getAllowance(machine, widest);
  }
  return usable;
}

/** Processors of the widest task of jobs that go on. Of a gang each machine has a part. Cost: O(queues). */
function widestTask({ state: { openJobs } }: Turn): ProcessorCount {
  let widest = 1;
  for (const { queues } of openJobs.values())
    for (const { processors } of queues.filter(({ isGang }) => !isGang).flatMap(listRequests))
      if (processors > widest) widest = processors;
  return widest;
}

function readyQueues({ state, crowded }: Turn): TaskQueue[] {
  const queues: TaskQueue[] = [];
  for (const job of state.openJobs.values()) {
    if (crowded.has(job)) continue;
    for (const queue of job.queues) if (queue.readyCount > 0 && !queue.isGang) queues.push(queue);
  }
  return queues;
}

/** The queues of each job that packs them, ordered by work; jobs stay in their order. */
function inPackingOrder(queues: readonly TaskQueue[], machines: readonly BrokerMachine[]): readonly TaskQueue[] {
  if (!queues.some((queue, index) => queues[index + 1]?.job === queue.job && isPacked(queue.job))) return queues;
  const ofJobs = new Map<TaskQueue['job'], TaskQueue[]>();
  for (const queue of queues) {
    const own = ofJobs.get(queue.job);
    if (own === undefined) ofJobs.set(queue.job, [queue]);
    else own.push(queue);
  }
  return [...ofJobs].flatMap(([job, own]) => (isPacked(job) ? orderByWork(own, machines) : own));
}
