import { reservationKey } from '../../messages/index.ts';
import { dispatch, type HandlersByKind } from '../../shared/index.ts';
import { holdMembers, startGang } from './apply/apply-gang.ts';
import { expireJob, reachBegin, settleDependency } from './apply/apply-gates.ts';
import { holdTasks, releaseTasks } from './apply/apply-hold.ts';
import {
  acceptJob,
  appendTasks,
  cancelJob,
  closeJob,
  endJob,
  forgetJobs,
  getReviseInputs,
  leaveReservation,
  retryTasks,
  chooseMemory,
  updateJob,
} from './apply/apply-job.ts';
import { cancelTasks } from './apply/cancel-tasks.ts';
import { confirmLease, grantLease } from './apply/apply-lease.ts';
import { addProvider, changeRequests, joinMachine, loseMachine, removeProvider } from './apply/apply-machine.ts';
import {
  endReplicas,
  giveUpReplicas,
  letReplicaGo,
  dispatchGang,
  dispatchReplicas,
  startReplicas,
  verifyReplica,
} from './apply/apply-replica.ts';
import { movePromised } from './apply/apply-clock-step.ts';
import { assignTasks } from './apply/apply-assignment.ts';
import { decideTask, digestReplica, doubtResults, noteEvidence, resetMachineTrust } from './apply/apply-trust.ts';
import type { BrokerChange } from './changes.ts';
import type { BrokerState } from './state.ts';

const appliers: HandlersByKind<BrokerState, BrokerChange> = {
  JobAccepted: acceptJob,
  TasksAppended: appendTasks,
  JobClosed: closeJob,
  JobCancelled: cancelJob,
  TasksCancelled: cancelTasks,
  TasksHeld: holdTasks,
  TasksReleased: releaseTasks,
  DependencySettled: settleDependency,
  BeginReached: reachBegin,
  JobExpired: expireJob,
  JobsForgotten: forgetJobs,
  JobUpdated: updateJob,
  MemoryChosen: chooseMemory,
  ReservationLeft: leaveReservation,
  JobEnded: endJob,
  TasksRetried: retryTasks,
  InputsRevised: getReviseInputs,
  TasksAssigned: assignTasks,
  ReplicasDispatched: dispatchReplicas,
  GangDispatched: dispatchGang,
  MembersHeld: holdMembers,
  GangStarted: startGang,
  ReplicasStarted: startReplicas,
  ReplicasGivenUp: giveUpReplicas,
  ReplicaLetGo: letReplicaGo,
  ReplicaVerifying: verifyReplica,
  ReplicaDigested: digestReplica,
  TaskDecided: decideTask,
  ResultsDoubted: doubtResults,
  EvidenceNoted: noteEvidence,
  MachineDrained: (state, change) => {
    state.drainedMachines.set(change.identity, {
      identity: change.identity,
      machineId: change.machineId,
      since: change.at,
      reason: change.reason,
    });
  },
  MachineUndrained: (state, change) => {
    state.drainedMachines.delete(change.identity);
  },
  MachineTrustReset: resetMachineTrust,
  ReplicasEnded: endReplicas,
  ProviderAdded: addProvider,
  ProviderRemoved: removeProvider,
  LeaseGranted: grantLease,
  LeaseConfirmed: confirmLease,
  MachineJoined: joinMachine,
  MachineLost: loseMachine,
  RequestsChanged: changeRequests,
  ReservationMoved: (state, change) => {
    state.movedReservations.set(reservationKey(change.reservation), change.window);
  },
  ClockStepped: (state, change) => {
    movePromised(state, change.by);
  },
};

/** Makes one change to the state; live and in replay alike. It decides nothing and asks no option. */
export function apply(state: BrokerState, change: BrokerChange): void {
  dispatch(appliers, state, change);
}
