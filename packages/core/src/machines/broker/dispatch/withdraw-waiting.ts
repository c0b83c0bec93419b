import { chooseWithdrawals, type IdleSlots, type WithdrawableReplica } from '../../../bag/index.ts';
import { avoidedUntil } from './avoidance.ts';
import { matchesQueue } from './matching.ts';
import { keepsAway } from '../times/remaining-time.ts';
import type { BrokerMachine, BrokerReplica } from '../state.ts';
import { findQueue } from '../site-selection/assigned-tasks.ts';
import { type Turn, wakeBy, withdrawReplica } from '../turn.ts';
import { hasVotedOn, isVotedOn } from '../trust/votes.ts';

interface WaitingReplica extends WithdrawableReplica {
  readonly replica: BrokerReplica;
}

/** Asks waiting replicas back from busy machines for the idle ones; their tasks are dispatched once they are back. */
export function withdrawWaiting(turn: Turn, machines: readonly BrokerMachine[], idle: IdleSlots<BrokerMachine>): void {
  const chosen = chooseWithdrawals(machines, idle, {
    listReplicas: (machine) => [...machine.replicas.values()].map((replica) => describe(turn, replica)),
    matches: ({ replica: { job, task } }, machine) => {
      const queue = findQueue(job, task.index);
      if (!matchesQueue(queue, machine) || keepsAway(turn, queue, machine)) return false;
      if (isVotedOn(job) && hasVotedOn(task, machine)) return false;
      // Back in hand it would only be put into the same queue again, and again asked back.
      const until = avoidedUntil(turn, machine, { queue, task });
      if (until !== undefined) wakeBy(turn, until);
      return until === undefined;
    },
  });
  for (const { replica } of chosen) withdrawReplica(turn, replica);
}

function describe(turn: Turn, replica: BrokerReplica): WaitingReplica {
  const { processors, resources, isWithdrawing } = replica;
  const due = replica.dispatchedAt + turn.state.options.withdrawAfter;
  // A member of a gang is waited for by the others.
  const mayWait = replica.status === 'dispatched' && replica.member === undefined;
  if (mayWait && due > turn.now) wakeBy(turn, due);
  return { replica, processors, resources, isWithdrawing, isWaiting: mayWait && due <= turn.now };
}
