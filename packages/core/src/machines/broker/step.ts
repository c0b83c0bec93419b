import { dispatch, type Decision, type Instant, type HandlersByKind } from '../../shared/index.ts';
import { onLeaseConfirmed } from './leases/adopt-leased.ts';
import { appendTasks, closeJob } from './jobs/append-tasks.ts';
import { chooseMemories } from './jobs/choose-memory.ts';
import { cancelJob } from './jobs/cancel-job.ts';
import { cancelTasks } from './jobs/cancel-tasks.ts';
import type { BrokerChange } from './changes.ts';
import type { BrokerCommand } from './commands.ts';
import {
  addProvider,
  connectProvider,
  disconnectProvider,
  expireSuspects,
  onResourceReported,
  settleProvider,
} from './machines/connect-provider.ts';
import { onMisconduct, resetMachineTrust, quarantineMachine } from './trust/convict.ts';
import { decideTasks } from './results/decide-tasks.ts';
import { setDemands } from './demand/demand.ts';
import { drainMachine, onDraining, returnFromDraining, undrainMachine } from './machines/draining.ts';
import { endJobs } from './jobs/end-jobs.ts';
import { grantLeases } from './leases/grant-leases.ts';
import { followDependencies } from './jobs/follow-dependencies.ts';
import { followTimes } from './jobs/follow-times.ts';
import { forgetJobs } from './jobs/forget-jobs.ts';
import { holdTasks, releaseTasks } from './jobs/hold-tasks.ts';
import type { BrokerInput } from './inputs.ts';
import { joinMachine } from './machines/join-machine.ts';
import { dropMachine } from './machines/lose-machine.ts';
import { dispatchReplicas } from './dispatch/dispatch-replicas.ts';
import { onRequestsChanged, onReservationStatuses } from './demand/requests.ts';
import { leaveReservations } from './reservations/reserved-jobs.ts';
import { chooseResources } from './site-selection/choose-resources.ts';
import { retryTasks } from './jobs/retry-tasks.ts';
import { letSilentGo } from './results/let-go.ts';
import { acceptResult, onDigest, refuseResult } from './results/settle-result.ts';
import type { BrokerState } from './state.ts';
import { noteStaged } from './results/stored-inputs.ts';
import { stopFailing } from './jobs/stop-failing.ts';
import { submitJob } from './jobs/submit-job.ts';
import { reconcileGangs } from './gangs/reconcile-gangs.ts';
import { followClock } from './follow-clock.ts';
import { giveUpUnstartable, takeReport } from './results/take-report.ts';
import { updateJob } from './jobs/update-job.ts';
import { beginTurn, flushCancels, type Turn } from './turn.ts';

/**
 * Handles a batch of inputs, then places replicas once, and returns what changed and what the driver must do, in order.
 *
 * Deterministic: the same state, inputs and `now` give the same decision. A repeated fact, or one about a replica that
 * has ended, is stale and changes nothing.
 */
export function step(
  state: BrokerState,
  inputs: readonly BrokerInput[],
  now: Instant,
): Decision<BrokerChange, BrokerCommand> {
  const turn = beginTurn(state, now);
  for (const input of inputs) takeInput(turn, input);
  expireSuspects(turn);
  letSilentGo(turn);
  leaveReservations(turn);
  followTimes(turn);
  decideTasks(turn);
  stopFailing(turn);
  returnFromDraining(turn);
  reconcileGangs(turn);
  flushCancels(turn);
  chooseMemories(turn);
  chooseResources(turn);
  dispatchReplicas(turn);
  flushCancels(turn);
  endJobs(turn);
  followDependencies(turn);
  flushCancels(turn);
  setDemands(turn);
  grantLeases(turn);
  setTimer(turn);
  return { changes: turn.changes, commands: turn.commands };
}

const handlers: HandlersByKind<Turn, BrokerInput> = {
  JobSubmitted: submitJob,
  TasksAppended: appendTasks,
  JobClosed: closeJob,
  JobCancelled: cancelJob,
  TasksCancelled: cancelTasks,
  TasksHeld: holdTasks,
  TasksReleased: releaseTasks,
  JobUpdated: updateJob,
  JobsForgotten: forgetJobs,
  TasksRetried: retryTasks,
  ProviderAdded: addProvider,
  ProviderConnected: connectProvider,
  ProviderSynced: settleProvider,
  ProviderDisconnected: disconnectProvider,
  LeaseConfirmed: onLeaseConfirmed,
  MachineJoined: joinMachine,
  MachineLost: dropMachine,
  MachineReported: takeReport,
  MachineMisbehaved: onMisconduct,
  RequestsChanged: onRequestsChanged,
  StatusesReported: onReservationStatuses,
  ResourceReported: onResourceReported,
  DrainingReported: onDraining,
  ReplicaUnstartable: giveUpUnstartable,
  ResultAccepted: acceptResult,
  ResultDigested: onDigest,
  MachineQuarantined: quarantineMachine,
  MachineDrained: drainMachine,
  MachineUndrained: undrainMachine,
  MachineTrustReset: resetMachineTrust,
  ResultRefused: refuseResult,
  InputsStaged: (turn, input) => {
    noteStaged(turn.state, input);
  },
  ClockStepped: followClock,
  // What is due is looked for in every step.
  TimerFired: (turn) => {
    turn.state.wakeAt = Infinity;
  },
};

function takeInput(turn: Turn, input: BrokerInput): void {
  if (!isOfRuns(input)) turn.mayChangeDemand = true;
  dispatch(handlers, turn, input);
}

/** Whether an input only says how replicas fare, as most do, or nothing. */
function isOfRuns({ kind }: BrokerInput): boolean {
  return kind === 'MachineReported' || kind === 'ResultAccepted' || kind === 'ResultDigested' || kind === 'TimerFired';
}

/** Sets the driver's timer where it is not set to the same moment already. */
function setTimer(turn: Turn): void {
  if (turn.wakeAt === turn.state.wakeAt || turn.wakeAt === Infinity) return;
  turn.state.wakeAt = turn.wakeAt;
  turn.commands.push({ kind: 'WakeAt', at: turn.wakeAt });
}
