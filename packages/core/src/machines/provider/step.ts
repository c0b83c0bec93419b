import { dispatch, type Decision, type Instant, type HandlersByKind } from '../../shared/index.ts';
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
import { isClockBehind } from './asked-lately.ts';
import { releaseIdle } from './release-idle.ts';
import type { ProviderState } from './state.ts';
import { acceptSubmission, askReleases, doubtSubmission, finishRelease, refuseSubmission } from './submission.ts';
import { reportProvisioning } from './report-provisioning.ts';
import { reportResource } from './report-resource.ts';
import { reportStatuses } from './report-statuses.ts';
import { beginTurn, commit, type Turn } from './turn.ts';
import { scheduleWake } from './wake.ts';

/**
 * Applies a batch of inputs, then makes one pass of decisions: it releases surplus allocations, requests missing ones,
 * and offers machines. Mutates `state`, which has one owner.
 *
 * Idempotent: a repeated fact, or one about a request, broker or agent that is already gone, is stale and changes
 * nothing.
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

const handlers: HandlersByKind<Turn, ProviderInput> = {
  ProviderStarted: (turn, input) => {
    startProvider(turn, input.instance);
  },
  BrokerConnected: connectBroker,
  BrokerDisconnected: (turn, input) => {
    disconnectBroker(turn, input.brokerId, input.connectionId);
  },
  DemandChanged: (turn, input) => {
    changeDemand(turn, input.brokerId, input.demand);
  },
  LeaseGranted: takeLease,
  LeaseRevoked: revokeLease,
  InputsStaged: markInputsStaged,
  ReportMade: keepReport,
  LeasedUnstartable: returnToQueue,
  SpooledAcknowledged: forgetReports,
  LimitsRead: (turn, input) => {
    takeLimits(turn, input.limits);
  },
  QueueListed: (turn, input) => {
    takeListing(turn, input.listing, input.readAt);
  },
  QueueReadFailed: (turn, input) => {
    noteFailedReading(turn.state, input.reason);
  },
  SubmitAccepted: (turn, input) => {
    acceptSubmission(turn, input.requestId, input.managerRequestId);
  },
  SubmitRefused: refuseSubmission,
  SubmitUnknown: (turn, input) => {
    doubtSubmission(turn, input.requestId);
  },
  ReleaseDone: (turn, input) => {
    finishRelease(turn, input.requestId);
  },
  // It is asked for again after a pause.
  ReleaseFailed: () => undefined,
  AgentAttached: attachAgent,
  AgentDetached: (turn, input) => {
    detachAgent(turn, input.machineId, input.attachmentId, input.hasLeft);
  },
  TasksMeasured: (turn, input) => {
    if (input.count > 0) commit(turn, input);
  },
  TasksSeen: (turn, input) => {
    seeTasks(turn, input.machines);
  },
  WindowsReported: (turn, input) => {
    takeWindows(turn, input.windows);
  },
  ClaimJudged: takeJudgement,
  DrainAsked: drain,
  UndrainAsked: undrain,
  GiveBackAsked: giveEverythingBack,
  HeuristicAsked: switchHeuristic,
  ClockStepped: (turn, input) => {
    followClock(turn, input.by);
  },
  TimerFired: (turn) => {
    turn.state.wakeAt = 0;
  },
};

function takeInput(turn: Turn, input: ProviderInput): void {
  dispatch(handlers, turn, input);
}

/** After a start every connection is gone, and the outcome of a submission that was under way is unknown. */
function startProvider(turn: Turn, instance: string): void {
  const { state, now } = turn;
  if (state.instance === '') commit(turn, { kind: 'ProviderFounded', instance, at: now });
  settleHeuristic(turn);
  if (isClockBehind(state, now)) commit(turn, { kind: 'ClockSetBack', at: now });
  state.startedAt = now;
  for (const broker of state.brokers.values()) broker.awaySince = now;
  for (const machine of state.machines.values()) machine.awaySince = now;
  for (const request of state.requests.values()) {
    if (request.status === 'submitting') request.unknownSince = now;
  }
}
