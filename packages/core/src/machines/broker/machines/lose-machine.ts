import type { Instant, JobId } from '../../../shared/index.ts';
import type { ReplicaEnding } from '../changes.ts';
import { silentLoss } from '../../../bag/index.ts';
import { reasonOfSilence } from '../results/judge-losses.ts';
import { drained } from './takes-work.ts';
import { unreportedEnding } from '../results/endings.ts';
import type { GetInput } from '../inputs.ts';
import type { BrokerMachine, BrokerReplica } from '../state.ts';
import { commit, type Turn } from '../turn.ts';

/** A machine is gone. */
export function dropMachine(turn: Turn, input: GetInput<'MachineLost'>): void {
  const machine = turn.state.machines.get(input.machineId);
  if (machine !== undefined)
    loseMachine(
      turn,
      machine,
      input.reason === silentLoss ? reasonOfSilence(turn.state, machine, turn.now) : input.reason,
    );
}

/**
 * Ends the replicas of a machine, then forgets the machine. Successes that it reported are still settled.
 *
 * @param silentSince since when the machine was silent, 0 if not known; left out if it was not.
 */
export function loseMachine(turn: Turn, machine: BrokerMachine, reason: string, silentSince?: Instant): void {
  loseReplicas(turn, machine, { replicas: [...machine.replicas.values()], reason, silentSince });
  turn.cancels.delete(machine);
  turn.withdrawals.delete(machine);
  commit(turn, { kind: 'MachineLost', machineId: machine.facts.machineId, reason, at: turn.now });
}

/** Ends replicas whose machine will never report their end. */
export function loseReplicas(
  turn: Turn,
  machine: BrokerMachine,
  lost: {
    readonly replicas: readonly BrokerReplica[];
    readonly reason: string;
    readonly silentSince: Instant | undefined;
  },
): void {
  const byJob = new Map<JobId, ReplicaEnding[]>();
  for (const replica of lost.replicas) {
    // What an operator takes away counts against no task.
    const ending = unreportedEnding(turn, replica, {
      disposition: lost.reason === drained ? 'withdrawn' : 'lost',
      reason: lost.reason,
      detail: '',
    });
    const endings = byJob.get(replica.job.jobId);
    if (endings === undefined) byJob.set(replica.job.jobId, [ending]);
    else endings.push(ending);
  }
  for (const [jobId, endings] of byJob) {
    commit(turn, {
      kind: 'ReplicasEnded',
      machineId: machine.facts.machineId,
      jobId,
      endings,
      at: turn.now,
      ...(lost.silentSince === undefined ? {} : { silentSince: lost.silentSince }),
    });
  }
}
