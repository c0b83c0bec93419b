import { reservationKey } from '../../messages/index.ts';
import { unreachable } from '../../shared/index.ts';
import { holdMembers, startGang } from './apply/apply-gang.ts';
import { acceptJob, cancelJob, endJob, leaveReservation, retryTasks, getReviseInputs } from './apply/apply-job.ts';
import { cancelTasks } from './apply/cancel-tasks.ts';
import { confirmLease, grantLease } from './apply/apply-lease.ts';
import { addProvider, changeRequests, joinMachine, loseMachine } from './apply/apply-machine.ts';
import {
  endReplicas,
  giveUpReplicas,
  placeGang,
  placeReplicas,
  startReplicas,
  verifyReplica,
} from './apply/apply-replica.ts';
import { movePromised } from './apply/apply-clock-step.ts';
import { placeTasks } from './apply/apply-placing.ts';
import { decideTask, digestReplica, doubtResults, noteEvidence, resetMachineTrust } from './apply/apply-trust.ts';
import type { BrokerChange } from './changes.ts';
import type { BrokerState } from './state.ts';

/** Makes one change to the state; live and in replay alike. It decides nothing and asks no option. */
export function apply(state: BrokerState, change: BrokerChange): void {
  switch (change.kind) {
    case 'JobAccepted':
      acceptJob(state, change);
      break;
    case 'JobCancelled':
      cancelJob(state, change);
      break;
    case 'TasksCancelled':
      cancelTasks(state, change);
      break;
    case 'ReservationLeft':
      leaveReservation(state, change);
      break;
    case 'JobEnded':
      endJob(state, change);
      break;
    case 'TasksRetried':
      retryTasks(state, change);
      break;
    case 'InputsRevised':
      getReviseInputs(state, change);
      break;
    case 'TasksPlaced':
      placeTasks(state, change);
      break;
    case 'ReplicasPlaced':
      placeReplicas(state, change);
      break;
    case 'GangPlaced':
      placeGang(state, change);
      break;
    case 'MembersHeld':
      holdMembers(state, change);
      break;
    case 'GangStarted':
      startGang(state, change);
      break;
    case 'ReplicasStarted':
      startReplicas(state, change);
      break;
    case 'ReplicasGivenUp':
      giveUpReplicas(state, change);
      break;
    case 'ReplicaVerifying':
      verifyReplica(state, change);
      break;
    case 'ReplicaDigested':
      digestReplica(state, change);
      break;
    case 'TaskDecided':
      decideTask(state, change);
      break;
    case 'ResultsDoubted':
      doubtResults(state, change);
      break;
    case 'EvidenceNoted':
      noteEvidence(state, change);
      break;
    case 'MachineDrained':
      state.drainedMachines.set(change.identity, {
        identity: change.identity,
        machineId: change.machineId,
        since: change.at,
        reason: change.reason,
      });
      break;
    case 'MachineUndrained':
      state.drainedMachines.delete(change.identity);
      break;
    case 'MachineTrustReset':
      resetMachineTrust(state, change);
      break;
    case 'ReplicasEnded':
      endReplicas(state, change);
      break;
    case 'ProviderAdded':
      addProvider(state, change);
      break;
    case 'LeaseGranted':
      grantLease(state, change);
      break;
    case 'LeaseConfirmed':
      confirmLease(state, change);
      break;
    case 'MachineJoined':
      joinMachine(state, change);
      break;
    case 'MachineLost':
      loseMachine(state, change);
      break;
    case 'RequestsChanged':
      changeRequests(state, change);
      break;
    case 'ReservationMoved':
      state.movedReservations.set(reservationKey(change.reservation), change.window);
      break;
    case 'ClockStepped':
      movePromised(state, change.by);
      break;
    default:
      unreachable(change);
  }
}
