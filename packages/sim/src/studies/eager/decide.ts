import {
  budgetLeft,
  findScheduler,
  IdleSlots,
  lossBy,
  dispatchQueues,
  replicate,
  type BagQueue,
  type ReplicationCost,
  type SchedulingPort,
  type TaskRuns,
} from '@mutirao/core/bag';
import type { Duration, TaskIndex } from '@mutirao/core/shared';
import type { BagState } from './bag-state.ts';
import type { IntermittentMachine, Run, SimulatedTask } from './intermittent-machine.ts';

/**
 * Gives present machines work, by the schedulers of the core, and ends replicas beyond the cap.
 *
 * @returns when the cap must be checked again; Infinity if never.
 */
export function decide(state: BagState): Duration {
  const { policy } = state;
  const machines = state.machines.filter(({ isUp }) => isUp);
  dispatchQueues(machines, [state.queue], getPort(state));
  if (findScheduler(policy.scheduler).replication === 'none' || policy.replicasMax < 2) return Infinity;
  if (policy.replicationCap.kind === 'idle' && state.ready.size > 0) yieldToReady(state, machines);
  replicateOn(state, machines);
  return policy.replicationCap.kind === 'share' ? keepWithinShare(state) : Infinity;
}

function replicateOn(state: BagState, machines: readonly IntermittentMachine[]): void {
  const idle = new IdleSlots(machines);
  if (idle.isEmpty) return;
  const tasks = [...state.running];
  for (const task of tasks) task.remaining = state.getRemaining(task);
  let left = getLeft(state);
  const prefersData = findScheduler(state.policy.scheduler).replication === 'where-data-are';
  replicate(tasks, idle, {
    suits: (task, machine) =>
      !task.runs.some((run) => run.machine === machine) &&
      (left === Infinity || costOfSibling(state, task, machine) <= left),
    worth: (task, machine) =>
      (prefersData && machine.files.has(task.file) ? 1e12 : 0) - (state.expected(machine, 0) ?? 0),
    dispatch: (machine, task) => {
      left -= left === Infinity ? 0 : costOfSibling(state, task, machine);
      state.start(machine, task);
    },
  });
}

/** What losers may cost yet, less what those that run are set aside for. As the broker reckons. */
function getLeft(state: BagState): Duration {
  if (state.policy.replicationCap.kind !== 'share') return Infinity;
  let atRisk = 0;
  for (const task of state.running) atRisk += lossBy(listRuns(task), state.expectedEnd(task));
  return budgetLeft(state.policy.replicationCap, { ...state.result, atRisk });
}

function costOfSibling(state: BagState, task: SimulatedTask, machine: IntermittentMachine): Duration {
  const [runs, end] = [listRuns(task), state.expectedEnd(task)];
  const after = lossBy(
    { ...runs, living: [...runs.living, state.now] },
    Math.min(end, state.now + (state.expected(machine, 0) ?? Infinity)),
  );
  return after === Infinity ? Infinity : after - lossBy(runs, end);
}

function costsOf({ result, running, now }: BagState): ReplicationCost {
  let atRisk = 0;
  for (const task of running) atRisk += lossBy(listRuns(task), now);
  return { ...result, atRisk };
}

function listRuns({ runs }: SimulatedTask): TaskRuns {
  return { processors: 1, living: runs.map(({ startedAt }) => startedAt), givenUp: [], waiting: [] };
}

/** Ends the youngest siblings while the share is used up. */
function keepWithinShare(state: BagState): Duration {
  for (;;) {
    const left = budgetLeft(state.policy.replicationCap, costsOf(state));
    const siblings = listSiblings(state.running);
    if (siblings.length === 0) return Infinity;
    if (left >= siblings.length) return state.now + Math.floor(left / siblings.length);
    state.stop(siblings[0] as Run, 'losers');
  }
}

/** The youngest siblings make room for tasks that are ready. */
function yieldToReady(state: BagState, machines: readonly IntermittentMachine[]): void {
  for (const sibling of listSiblings(state.running).slice(0, state.ready.size)) state.stop(sibling, 'losers');
  dispatchQueues(machines, [state.queue], getPort(state));
}

/** All runs but the eldest of each task, the youngest first. */
function listSiblings(tasks: Iterable<SimulatedTask>): Run[] {
  return [...tasks]
    .flatMap(({ runs }) => runs.slice(1))
    .sort((one, other) => other.startedAt - one.startedAt || other.task.index - one.task.index);
}

function getPort(state: BagState): SchedulingPort<IntermittentMachine, BagQueue> {
  const startAll = (machine: IntermittentMachine, tasks: readonly TaskIndex[]): void => {
    for (const index of tasks) state.start(machine, state.tasks[index] as SimulatedTask);
  };
  const listReady = (from: TaskIndex, countMax: number): TaskIndex[] => {
    const tasks: TaskIndex[] = [];
    for (
      let task = state.ready.findFrom(from);
      task !== undefined && tasks.length < countMax;
      task = state.ready.findFrom(task + 1)
    )
      tasks.push(task);
    return tasks;
  };
  return {
    matches: () => true,
    suits: () => true,
    prefetchDepth: () => 0,
    timeLeft: () => Infinity,
    lookAgain: () => undefined,
    isPlanned: () => false,
    dispatchPlanned: () => new Set(),
    dispatch: (machine, _queue, countMax) => {
      const tasks = listReady(0, countMax);
      startAll(machine, tasks);
      return tasks.length;
    },
    dispatchTasks: (machine, _queue, tasks) => {
      startAll(machine, tasks);
    },
    readyTasks: (_queue, from, countMax) => listReady(from, countMax),
    taskTime: (_queue, _task, machine) => state.expected(machine, 0),
    waits: (_queue, { run }) => [
      run === undefined ? 0 : (state.expected(run.machine, state.now - run.startedAt) ?? Infinity),
    ],
    bytesHeld: (_queue, task, { files }) =>
      files.has((state.tasks[task] as SimulatedTask).file) ? (state.setup.data?.fileSize ?? 0) : 0,
  };
}
