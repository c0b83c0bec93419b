import { prefetchDepth, usableProcessors, type SchedulingPort } from '../../../bag/index.ts';
import type { Duration, Instant, TaskIndex } from '../../../shared/index.ts';
import { avoidedUntil } from './avoidance.ts';
import { findDispatchable } from './hold-back.ts';
import { matchesQueue } from './matching.ts';
import { dispatchBatch } from './dispatch-batch.ts';
import { dispatchPlanned } from '../plan/planned-dispatch.ts';
import { canBePlanned } from '../plan/planned-times.ts';
import { ReadyOrder } from '../workflow/ready-order.ts';
import { isTooLateFor, keepsAway } from '../times/remaining-time.ts';
import type { BrokerJob, BrokerMachine, TaskQueue } from '../state.ts';
import { chooseWidth } from './choose-width.ts';
import { countSoonerBefore } from './sooner-before.ts';
import { bytesHeldIn } from '../results/stored-inputs.ts';
import { getRoom } from '../jobs/serving-order.ts';
import { getGroup } from '../jobs/task-groups.ts';
import { expectedTime, timeQuantile, waitsAt } from '../times/task-times.ts';
import { type Turn, wakeBy } from '../turn.ts';

/** Tasks that wait for another machine than this one that are passed over before one is taken all the same. */
const passedOverMax = 256;

/**
 * Schedulers that use estimates see time pass in these parts of a job's mean task time, or in the second one if longer:
 * between two of them only events change their decisions.
 */
const looksPerTask = 16;
const lookEveryMin: Duration = 1000;

/** How schedulers see the broker in this turn. */
export function schedulingPort(turn: Turn): SchedulingPort<BrokerMachine, TaskQueue> {
  const order = new ReadyOrder();
  return {
    matches: (queue, machine) => matchesQueue(queue, machine) && !keepsAway(turn, queue, machine),
    prefetchDepth: (queue, machine) => getDepth(turn, queue, machine),
    listHeld: (machine) => machine.replicas.values(),
    listAlternatives: ({ alternatives }) => alternatives,
    isOfSameBag: (one, other) => one.job === other.job && isPacked(one.job),
    countSoonerBefore: (queue, alternative, among) => countSoonerBefore(turn, { queue, alternative, among }),
    dispatch: (machine, queue, countMax) => placeFrom(turn, machine, { queue, countMax, order }),
    readyTasks: listReady,
    suits: (queue, task, machine) => suits(turn, machine, { queue, task }),
    dispatchTasks: (machine, queue, tasks) => dispatchTasks(turn, machine, { queue, tasks }),
    taskTime: (queue, _task, machine) => expectedTime(queue.job, machine),
    waits: (queue, machine) => waitsAt(machine, queue, lastLook(turn, queue)),
    timeLeft: (queue, { facts: { until } }) => (until === undefined ? Infinity : until - lastLook(turn, queue)),
    bytesHeld: bytesHeldIn(turn.state),
    isPlanned: (queue) => canBePlanned(turn.state, queue),
    dispatchPlanned: (machines, queues) =>
      dispatchPlanned(turn, machines, queues, {
        order,
        matches: (queue, machine) => matchesQueue(queue, machine) && !keepsAway(turn, queue, machine),
        suits: (queue, task, machine) => suits(turn, machine, { queue, task }),
        dispatchTasks: (machine, queue, tasks) => dispatchTasks(turn, machine, { queue, tasks }),
      }),
    lookAgain: (queue) => {
      wakeBy(turn, lastLook(turn, queue) + lookEvery(queue));
    },
  };
}

/** Whether a job is a bag whose groups request different amounts of memory, GPUs or named resources. */
export function isPacked({ dependencies, queues, queuesByKind }: BrokerJob): boolean {
  return dependencies === undefined && queuesByKind.size > 1 && queues.some(({ resources }) => resources !== undefined);
}

/** The instant by which its tasks are mapped now. */
function lastLook({ now }: Turn, queue: TaskQueue): Instant {
  return now - (now % lookEvery(queue));
}

function lookEvery({ job: { times } }: TaskQueue): Duration {
  return Math.max(lookEveryMin, Math.ceil((times.mean ?? 0) / looksPerTask));
}

function getDepth(turn: Turn, queue: TaskQueue, machine: BrokerMachine): number {
  // A machine that broke replicas gets no queue until it has ended one well.
  if (machine.breakages > 0 || isTooLateFor(turn, queue, machine)) return 0;
  const slots = Math.floor(usableProcessors(machine) / queue.processors);
  const taskTimeMedian = queue.noOp ? undefined : timeQuantile(queue.job, machine, { share: 0.5, elapsed: 0 });
  const { target, replicasMax } = turn.state.options.prefetch;
  return prefetchDepth(
    { noOp: queue.noOp, slots, taskTimeMedian },
    { replicasMax, target: target + (machine.facts.reportDelay ?? 0) },
  );
}

/** Ready tasks of a queue to dispatch. */
interface Wanted {
  readonly queue: TaskQueue;
  readonly countMax: number;
  readonly order: ReadyOrder;
}

function placeFrom(turn: Turn, machine: BrokerMachine, from: Wanted): number {
  const tasks = chooseReady(turn, machine, from);
  dispatchTasks(turn, machine, { queue: from.queue, tasks });
  return tasks.length;
}

/** Dispatches tasks in batches of one group each. */
function dispatchTasks(
  turn: Turn,
  machine: BrokerMachine,
  { queue, tasks: wanted }: { readonly queue: TaskQueue; readonly tasks: readonly TaskIndex[] },
): void {
  // Tasks that were mapped beyond the job's limit of running tasks stay ready.
  const room = getRoom(queue.job);
  if (wanted.length > room) {
    dispatchTasks(turn, machine, { queue, tasks: wanted.slice(0, room) });
    return;
  }
  const tasks = wanted;
  let start = 0;
  const processors = chooseWidth(turn.state, machine, { queue, count: tasks.length });
  while (start < tasks.length) {
    const group = getGroup(queue.job, tasks[start] as TaskIndex);
    let end = start + 1;
    while (end < tasks.length && isWithin(group, tasks[end] as TaskIndex)) end++;
    const isAll = start === 0 && end === tasks.length;
    dispatchBatch(turn, machine, {
      job: queue.job,
      group,
      taskIndexes: isAll ? tasks : tasks.slice(start, end),
      processors,
      alternative: queue.alternative,
    });
    start = end;
  }
}

function isWithin(
  { firstTaskIndex, count }: { readonly firstTaskIndex: TaskIndex; readonly count: number },
  task: TaskIndex,
): boolean {
  return task >= firstTaskIndex && task < firstTaskIndex + count;
}

/** The first ready tasks but those that failed on this machine lately, while another one may take them. */
function chooseReady(turn: Turn, machine: BrokerMachine, { queue, countMax, order }: Wanted): TaskIndex[] {
  const chosen: TaskIndex[] = [];
  let passedOver = 0;
  const most = Math.min(countMax, getRoom(queue.job));
  if (most <= 0) return chosen;
  for (const task of order.getTasks(queue)) {
    if (passedOver >= passedOverMax || suits(turn, machine, { queue, task })) chosen.push(task);
    else passedOver++;
    if (chosen.length >= most) break;
  }
  return chosen;
}

function suits(
  turn: Turn,
  machine: BrokerMachine,
  { queue, task }: { readonly queue: TaskQueue; readonly task: TaskIndex },
): boolean {
  const until = avoidedUntil(turn, machine, { queue, task: queue.job.tasks.get(task) });
  if (until !== undefined) wakeBy(turn, until);
  return until === undefined;
}

function listReady(queue: TaskQueue, from: TaskIndex, countMax: number): TaskIndex[] {
  const tasks: TaskIndex[] = [];
  const most = Math.min(countMax, getRoom(queue.job));
  for (
    let task = findDispatchable(queue, from);
    task !== undefined && tasks.length < most;
    task = findDispatchable(queue, task + 1)
  )
    tasks.push(task);
  return tasks;
}
