import { freeProcessors, IdleSlots, type PlacementPort, placeReady, prefetchDepth } from '../../bag/index.ts';
import type { TaskIndex } from '../../shared/index.ts';
import { avoidedUntil } from './avoidance.ts';
import { matchesQueue } from './matching.ts';
import { placeBatch } from './place-batch.ts';
import { isTooLateFor, keepsAway } from './remaining-time.ts';
import { replicateTasks } from './replicate-tasks.ts';
import type { BrokerMachine, BrokerState, TaskQueue } from './state.ts';
import { getGroup } from './task-groups.ts';
import { type Turn, wakeBy } from './turn.ts';
import { withdrawWaiting } from './withdraw-waiting.ts';

/** Tasks that wait for another machine than this one that are passed over before one is taken all the same. */
const passedOverMax = 256;

/**
 * Gives machines work: ready tasks first; where none is left, tasks that wait in the queues of busy machines are asked back for
 * idle ones, and what is idle still gets replicas of running tasks.
 */
export function placeReplicas(turn: Turn): void {
  if (turn.state.openJobs.size === 0) return;
  const machines = usableMachines(turn);
  if (machines.length === 0) return;
  const queues = readyQueues(turn.state);
  const kept = placeReady(machines, turn.state.options.scheduler.order(queues), placementPort(turn));
  const idle = new IdleSlots(machines.filter((machine) => freeProcessors(machine) > 0 && !kept.has(machine)));
  if (idle.isEmpty) return;
  withdrawWaiting(turn, machines, idle);
  if (!idle.isEmpty) replicateTasks(turn, idle);
}

/** Machines that something may be placed on now. */
function usableMachines(turn: Turn): BrokerMachine[] {
  const usable: BrokerMachine[] = [];
  for (const machine of turn.state.machines.values()) {
    if (!machine.isTold || (machine.facts.until !== undefined && machine.facts.until <= turn.now)) continue;
    if (machine.quarantinedUntil > turn.now) wakeBy(turn, machine.quarantinedUntil);
    else usable.push(machine);
  }
  return usable;
}

function readyQueues(state: BrokerState): TaskQueue[] {
  const queues: TaskQueue[] = [];
  for (const job of state.openJobs.values()) {
    for (const queue of job.queues) if (queue.ready.size > 0) queues.push(queue);
  }
  return queues;
}

function placementPort(turn: Turn): PlacementPort<BrokerMachine, TaskQueue> {
  return {
    matches: (queue, machine) => matchesQueue(queue, machine.facts) && !keepsAway(turn, queue, machine),
    prefetchDepth: (queue, machine) => depthOf(turn, queue, machine),
    place: (machine, queue, countMax) => placeFrom(turn, machine, { queue, countMax }),
  };
}

function depthOf(turn: Turn, queue: TaskQueue, machine: BrokerMachine): number {
  // A machine that broke replicas gets no queue until it has ended one well.
  if (machine.breakages > 0 || isTooLateFor(turn, queue, machine)) return 0;
  const { times } = queue.job;
  const slots = Math.floor(machine.processors / queue.processors);
  const taskTimeMean = times.count === 0 ? undefined : times.sum / times.count;
  return prefetchDepth({ noOp: queue.noOp, slots, taskTimeMean }, turn.state.options.prefetch);
}

function placeFrom(turn: Turn, machine: BrokerMachine, from: { readonly queue: TaskQueue; readonly countMax: number }): number {
  const { queue, countMax } = from;
  const indexes = chooseReady(turn, queue, { machine, countMax });
  let start = 0;
  while (start < indexes.length) {
    const group = getGroup(queue.job, indexes[start] as TaskIndex);
    let end = start + 1;
    const groupEnd = group.firstTaskIndex + group.count;
    while (end < indexes.length && (indexes[end] as TaskIndex) < groupEnd) end++;
    const isAll = start === 0 && end === indexes.length;
    placeBatch(turn, machine, { job: queue.job, group, taskIndexes: isAll ? indexes : indexes.slice(start, end) });
    start = end;
  }
  return indexes.length;
}

/** The first ready tasks but those that failed on this machine lately, while another one may take them. */
function chooseReady(turn: Turn, queue: TaskQueue, { machine, countMax }: { machine: BrokerMachine; countMax: number }): TaskIndex[] {
  const chosen: TaskIndex[] = [];
  let passedOver = 0;
  let index = queue.ready.findFrom(0);
  while (index !== undefined && chosen.length < countMax) {
    const until = passedOver < passedOverMax ? avoidedUntil(turn, machine, { queue, task: queue.job.tasks.get(index) }) : undefined;
    if (until === undefined) chosen.push(index);
    else {
      passedOver++;
      wakeBy(turn, until);
    }
    index = queue.ready.findFrom(index + 1);
  }
  return chosen;
}
