import { unreachable, type Decision, type Instant } from '../../shared/index.ts';
import {
  changeDemand,
  connectBroker,
  disconnectBroker,
  noteIdleBrokers,
  offerMachines,
  reportChangedRequests,
} from './brokers.ts';
import type { ProviderChange } from './changes.ts';
import type { ProviderCommand } from './commands.ts';
import { draftRequests, releaseSurplus } from './decide.ts';
import { drain, giveEverythingBack, undrain } from './draining.ts';
import { askAhead, giveHeld, takeJudgement } from './decide-held.ts';
import { draftReserved, releaseReserved, withdrawExcess } from './decide-reserved.ts';
import {
  actAsStandby,
  beginStandbys,
  confirmLeases,
  forgetReports,
  keepReport,
  markInputsStaged,
  returnToQueue,
  takeLease,
  revokeLease,
} from './standby.ts';
import { followWindows, releaseHeld, takeWindows } from './follow-windows.ts';
import { followClock } from './follow-clock.ts';
import { settleHeuristic, switchHeuristic } from './heuristic.ts';
import type { ProviderInput } from './inputs.ts';
import { attachAgent, detachAgent, loseAbsentMachines, seeTasks } from './machines.ts';
import { noteTriggers } from './note-triggers.ts';
import { giveUpMissed, noteFailedReading, requeueWaiting, takeLimits, takeListing } from './queue.ts';
import { isAheadOf } from './asked-lately.ts';
import { releaseIdle } from './release-idle.ts';
import type { ProviderState } from './state.ts';
import { acceptSubmission, askReleases, doubtSubmission, finishRelease, refuseSubmission } from './submission.ts';
import { reportProvisioning } from './report-provisioning.ts';
import { reportResource } from './report-resource.ts';
import { reportStatuses } from './report-statuses.ts';
import { beginTurn, commit, type Turn } from './turn.ts';
import { scheduleWake } from './wake.ts';

/**
 * Applies a batch of inputs, then makes one pass of decisions: what is surplus is released, what is missing is asked
 * for, and
 * machines are offered. Mutates `state`, which has one owner.
 *
 * Idempotent: a fact heard twice, or about a request, broker or agent already gone, is stale and changes nothing.
 */
export function step(
  state: ProviderState,
  inputs: readonly ProviderInput[],
  now: Instant,
): Decision<ProviderChange, ProviderCommand> {
  const turn = beginTurn(state, now);
  for (const input of inputs) takeInput(turn, input);
  giveUpMissed(turn);
  requeueWaiting(turn);
  loseAbsentMachines(turn);
  beginStandbys(turn);
  noteIdleBrokers(turn);
  releaseSurplus(turn);
  releaseIdle(turn);
  releaseReserved(turn);
  withdrawExcess(turn);
  followWindows(turn);
  releaseHeld(turn);
  draftReserved(turn);
  askAhead(turn);
  giveHeld(turn);
  askReleases(turn);
  noteTriggers(turn);
  draftRequests(turn);
  reportChangedRequests(turn);
  reportResource(turn);
  offerMachines(turn);
  actAsStandby(turn);
  confirmLeases(turn);
  reportProvisioning(turn);
  reportStatuses(turn);
  scheduleWake(turn);
  return { changes: turn.changes, commands: turn.commands };
}

function takeInput(turn: Turn, input: ProviderInput): void {
  switch (input.kind) {
    case 'ProviderStarted':
      startProvider(turn, input.instance);
      break;
    case 'BrokerConnected':
      connectBroker(turn, input);
      break;
    case 'BrokerDisconnected':
      disconnectBroker(turn, input.brokerId, input.connectionId);
      break;
    case 'DemandChanged':
      changeDemand(turn, input.brokerId, input.demand);
      break;
    case 'LeaseGranted':
      takeLease(turn, input);
      break;
    case 'LeaseRevoked':
      revokeLease(turn, input);
      break;
    case 'InputsStaged':
      markInputsStaged(turn, input);
      break;
    case 'ReportMade':
      keepReport(turn, input);
      break;
    case 'LeasedUnstartable':
      returnToQueue(turn, input);
      break;
    case 'SpooledAcknowledged':
      forgetReports(turn, input);
      break;
    case 'LimitsRead':
      takeLimits(turn, input.limits);
      break;
    case 'QueueListed':
      takeListing(turn, input.listing, input.readAt);
      break;
    case 'QueueReadFailed':
      noteFailedReading(turn.state, input.reason);
      break;
    case 'SubmitAccepted':
      acceptSubmission(turn, input.requestId, input.managerRequestId);
      break;
    case 'SubmitRefused':
      refuseSubmission(turn, input);
      break;
    case 'SubmitUnknown':
      doubtSubmission(turn, input.requestId);
      break;
    case 'ReleaseDone':
      finishRelease(turn, input.requestId);
      break;
    case 'ReleaseFailed':
      break; // It is asked for again after a pause.
    case 'AgentAttached':
      attachAgent(turn, input);
      break;
    case 'AgentDetached':
      detachAgent(turn, input.machineId, input.attachmentId, input.hasLeft);
      break;
    case 'TasksMeasured':
      if (input.count > 0) commit(turn, input);
      break;
    case 'TasksSeen':
      seeTasks(turn, input.machines);
      break;
    case 'WindowsReported':
      takeWindows(turn, input.windows);
      break;
    case 'ClaimJudged':
      takeJudgement(turn, input);
      break;
    case 'DrainAsked':
      drain(turn, input);
      break;
    case 'UndrainAsked':
      undrain(turn, input);
      break;
    case 'GiveBackAsked':
      giveEverythingBack(turn, input);
      break;
    case 'HeuristicAsked':
      switchHeuristic(turn, input);
      break;
    case 'ClockStepped':
      followClock(turn, input.by);
      break;
    case 'TimerFired':
      turn.state.wakeAt = 0;
      break;
    default:
      unreachable(input);
  }
}

/** After a start every connection is gone, and of a submission that was under way nobody knows the end. */
function startProvider(turn: Turn, instance: string): void {
  const { state, now } = turn;
  if (state.instance === '') commit(turn, { kind: 'ProviderFounded', instance, at: now });
  settleHeuristic(turn);
  if (isAheadOf(state, now)) commit(turn, { kind: 'ClockSetBack', at: now });
  state.startedAt = now;
  for (const broker of state.brokers.values()) broker.awaySince = now;
  for (const machine of state.machines.values()) machine.awaySince = now;
  for (const request of state.requests.values()) {
    if (request.status === 'submitting') request.unknownSince = now;
  }
}
