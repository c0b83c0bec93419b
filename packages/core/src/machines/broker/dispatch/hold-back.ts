import { type IndexSet, type Instant, type TaskIndex } from '../../../shared/index.ts';
import { matchesQueue } from './matching.ts';
import type { BrokerJob, BrokerMachine, BrokerProvider, OpenTask, TaskQueue } from '../state.ts';
import { findQueue } from '../site-selection/assigned-tasks.ts';
import { type Turn, wakeBy } from '../turn.ts';

/**
 * Holds back tasks that providers may have started by themselves and have not reported: a broker that is back asks what
 * is alive before it runs anything again. Tasks that are not delegated go on at once. Cost: O(tasks leased to awaited
 * providers).
 *
 * @returns the queues with held tasks, for which the step asks to run again.
 */
export function holdBackLeased(turn: Turn): ReadonlySet<TaskQueue> {
  const { state } = turn;
  const held = new Set<TaskQueue>();
  for (const provider of state.providers.values()) {
    const until = unreceivedUntil(turn, provider);
    if (until === undefined) continue;
    let heldCount = 0;
    for (const { tasksByJob } of provider.leases) {
      for (const [jobId, tasks] of tasksByJob) heldCount += holdBack(state.openJobs.get(jobId), tasks, held);
    }
    if (heldCount > 0) wakeBy(turn, until);
  }
  return held;
}

/** @returns how many of the tasks are ready. */
function holdBack(job: BrokerJob | undefined, tasks: IndexSet, held: Set<TaskQueue>): number {
  if (job?.status !== 'running') return 0;
  let count = 0;
  for (const index of tasks.values()) {
    const queue = findQueue(job, index);
    if (!queue.ready.has(index)) continue;
    queue.heldBack.add(index);
    held.add(queue);
    count++;
  }
  return count;
}

/**
 * Until when the broker waits for a provider to report what it holds; undefined if it has reported all, or the wait is
 * over.
 */
export function unreceivedUntil({ now }: Pick<Turn, 'now'>, { listeningUntil }: BrokerProvider): Instant | undefined {
  return listeningUntil !== undefined && listeningUntil > now ? listeningUntil : undefined;
}

/**
 * Whether more of a running task may be running than is known: one of its replicas is on a machine that has not
 * presented itself again, or it was leased to
 * a provider, and that is waited for. Then the step asks to be run again.
 */
export function isUnreceived(turn: Turn, { jobId }: BrokerJob, { index, replicas }: OpenTask): boolean {
  for (const provider of turn.state.providers.values()) {
    const until = unreceivedUntil(turn, provider);
    if (until === undefined) continue;
    const isLeased = provider.leases.some(({ tasksByJob }) => tasksByJob.get(jobId)?.has(index) === true);
    if (!isLeased && !replicas.some(({ machine }) => !machine.isAnnounced && machine.provider === provider)) continue;
    wakeBy(turn, until);
    return true;
  }
  return false;
}

/** Whether a machine may take a held task: siblings must not take the machine, because that task may go on there. */
export function isKeptFor(held: ReadonlySet<TaskQueue>, machine: BrokerMachine): boolean {
  for (const queue of held) if (matchesQueue(queue, machine)) return true;
  return false;
}

/** The first ready task from `from` on that is not held back. */
export function findDispatchable({ ready, heldBack }: TaskQueue, from: TaskIndex): TaskIndex | undefined {
  let task = ready.findFrom(from);
  while (task !== undefined && heldBack.has(task)) task = ready.findFrom(task + 1);
  return task;
}
