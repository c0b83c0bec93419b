import { budgetLeft } from '../../../bag/index.ts';
import { matchesQueue } from './matching.ts';
import { keepsAway } from '../times/remaining-time.ts';
import { limitPreAcquired, replicationCost } from './replication-budget.ts';
import type { BrokerJob, BrokerMachine, BrokerReplica, OpenTask, TaskQueue } from '../state.ts';
import { cancelReplica, commit, type Turn, wakeBy } from '../turn.ts';
import { isVotedOn } from '../trust/votes.ts';

/** Tasks and gangs that need processors: these would not idle. */
export interface Claims {
  readonly ready: readonly TaskQueue[];
  /** Machines that gangs wait for. */
  readonly gathering: ReadonlySet<BrokerMachine>;
}

/** Gives up replicas where a job's cap on replication does not allow them any longer. */
export function preemptSpeculative(turn: Turn, claims: Claims): void {
  for (const job of turn.state.openJobs.values()) {
    forgetSettled(job);
    // Votes are needed results, not speculation.
    if (job.withSibling.size === 0 || isVotedOn(job)) continue;
    if (job.replicationCap.kind === 'share') keepWithinShare(turn, job);
    else if (job.replicationCap.kind === 'idle') yieldTo(turn, job, claims);
  }
}

/** Forgets tasks that have no second replica any more. */
function forgetSettled({ withSibling }: BrokerJob): void {
  for (const task of withSibling) {
    const { replicas, successes = [] } = task;
    if (replicas.length + successes.length < 2 && !replicas.some(({ status }) => status === 'aborting'))
      withSibling.delete(task);
  }
}

/**
 * Gives up the youngest siblings until the rest of the share lasts for a moment, and checks again when it does not.
 * After giving any up it checks again at once: the share that was set aside for them may be enough for another.
 */
function keepWithinShare(turn: Turn, job: BrokerJob): void {
  for (;;) {
    const cost = replicationCost(job, turn.now);
    const left = budgetLeft(job.replicationCap, cost);
    const youngest = left <= cost.growth * limitPreAcquired ? findYoungestSibling(job.withSibling) : undefined;
    if (youngest === undefined) {
      if (cost.growth > 0 && left > 0)
        wakeBy(turn, turn.now + Math.max(1, Math.floor(left / cost.growth) - limitPreAcquired));
      return;
    }
    giveUp(turn, job, [youngest]);
    wakeBy(turn, turn.now + 1);
  }
}

/** Whether ready tasks need the machine: it would not idle, and speculative replicas would have to give way at once. */
export function isWanted(turn: Turn, ready: readonly TaskQueue[], machine: BrokerMachine): boolean {
  return ready.some(
    (queue) => queue.readyCount > 0 && matchesQueue(queue, machine) && !keepsAway(turn, queue, machine),
  );
}

/**
 * A processor that ready tasks or a gang need would not idle: the youngest siblings make room for tasks, and all that
 * are in its way for a gang.
 */
function yieldTo(turn: Turn, job: BrokerJob, { ready, gathering }: Claims): void {
  const siblings = [...job.withSibling]
    .flatMap(listSiblings)
    .sort((one, other) => other.dispatchedAt - one.dispatchedAt || other.replicaId - one.replicaId);
  const chosen = new Set<BrokerReplica>(siblings.filter(({ machine }) => gathering.has(machine)));
  let making = [...job.withSibling]
    .flatMap(({ replicas }) => replicas)
    .filter(({ status }) => status === 'aborting').length;
  for (const queue of ready) {
    let wanted = queue.readyCount - making;
    making = Math.max(0, making - queue.readyCount);
    for (const replica of siblings) {
      if (wanted <= 0) break;
      if (chosen.has(replica) || !isWanted(turn, [queue], replica.machine)) continue;
      chosen.add(replica);
      wanted--;
    }
  }
  if (chosen.size > 0) giveUp(turn, job, [...chosen]);
}

function findYoungestSibling(tasks: Iterable<OpenTask>): BrokerReplica | undefined {
  let youngest: BrokerReplica | undefined;
  for (const task of tasks) {
    const last = listSiblings(task).at(-1);
    if (last !== undefined && (youngest === undefined || last.dispatchedAt > youngest.dispatchedAt)) youngest = last;
  }
  return youngest;
}

/** Its replicas but the eldest that lives; none where its task has ended. */
function listSiblings({ replicas, status }: OpenTask): BrokerReplica[] {
  if (status !== 'running') return [];
  return replicas.filter((replica) => replica.status !== 'aborting').slice(1);
}

function giveUp(turn: Turn, { jobId }: BrokerJob, replicas: readonly BrokerReplica[]): void {
  commit(turn, {
    kind: 'ReplicasGivenUp',
    jobId,
    replicaIds: replicas.map(({ replicaId }) => replicaId),
    at: turn.now,
  });
  for (const replica of replicas) cancelReplica(turn, replica);
}
