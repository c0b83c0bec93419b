import type { TaskStatus } from '../../../messages/index.ts';
import { hasEnded, type BrokerReplica } from '../state.ts';
import { cancelReplica, commit, type Turn, wakeBy } from '../turn.ts';
import { statusAlone } from './endings.ts';

/**
 * Lets tasks go on without replicas whose end a connected machine does not report in time: a machine that never answers
 * would keep a cancelled job open for ever. The machine is not blamed, since a process may hang in the kernel, and
 * inputs may be on their way: the replica's processors stay occupied, and its end counts when it comes.
 *
 * A machine out of reach is another matter: it gets the order again when it is back. Cost: O(those that are due).
 */
export function letSilentGo(turn: Turn): void {
  const { state, now } = turn;
  for (const [replicaId, due] of state.awaitedEnds) {
    if (due > now) return wakeBy(turn, due);
    state.awaitedEnds.delete(replicaId);
    const replica = state.replicas.get(replicaId);
    if (replica !== undefined && replica.machine.isAnnounced && isAwaited(replica)) letGo(turn, replica);
  }
}

/** Whether a task cannot go on before the end of this replica is known. */
export function isAwaited({ status, isWithdrawing, task, member }: BrokerReplica): boolean {
  return (status === 'aborting' || isWithdrawing) && !hasEnded(task) && (member === undefined || member.rank === 0);
}

function letGo(turn: Turn, replica: BrokerReplica): void {
  const {
    replicaId,
    job: { jobId },
    task: { index: taskIndex },
    machine: {
      facts: { machineId },
    },
  } = replica;
  // It was asked back only if it had not started.
  if (replica.isWithdrawing) cancelReplica(turn, replica);
  const taskStatus = statusLeft(turn, replica);
  commit(turn, { kind: 'ReplicaLetGo', machineId, jobId, replicaId, taskIndex, taskStatus, at: turn.now });
}

/** What its task is without it. */
function statusLeft({ state }: Turn, { job, task, abortDisposition }: BrokerReplica): TaskStatus {
  if (task.replicas.length > 1 || task.successes !== undefined) return task.status;
  if (abortDisposition === 'cancelled') return 'cancelled';
  return statusAlone(task, {
    disposition: 'withdrawn',
    reason: '',
    startedAt: 0,
    failuresMax: job.failuresMax,
    lossesMax: state.options.lossesMax,
  });
}
