import type { StartGang } from '../../messages/index.ts';
import { unreachable, type Decision, type Instant } from '../../shared/index.ts';
import { cancelReplicas, drain, stopAll } from './cancel-replicas.ts';
import type { AgentChange } from './changes.ts';
import type { AgentCommand } from './commands.ts';
import { askContentsAgain, noteContent, noteRefusal, prefetchContents } from './contents.ts';
import { enforceDeadlines } from './deadlines.ts';
import {
  failCollection,
  failStaging,
  findHeld,
  finishCollection,
  finishProcess,
  limitReplica,
} from './finish-replica.ts';
import { breakGang, failHold, findStarting, noteListening } from './gang.ts';
import type { AgentInput } from './inputs.ts';
import { followClock } from './follow-clock.ts';
import { dispatchReplicas } from './dispatch-replicas.ts';
import { acknowledge, nextReportDue, resendReports, sendReports } from './reports.ts';
import { endAllIdle, endIdleRunners, nextIdleEnd, noteRunnerEnd } from './runners.ts';
import { launchStaged, launchTask, startReplicas } from './start-replicas.ts';
import type { AgentState } from './state.ts';
import { Turn } from './turn.ts';

const noChanges: AgentChange[] = [];

/**
 * Handles a batch of facts, then starts what can start, and sends all that happened in one report (or a few, if it is
 * long).
 */
export function step(
  state: AgentState,
  inputs: readonly AgentInput[],
  now: Instant,
): Decision<AgentChange, AgentCommand> {
  const turn = new Turn(state, now);
  for (const input of inputs) handle(turn, input);
  enforceDeadlines(turn);
  prefetchContents(turn);
  startReplicas(turn);
  endIdleRunners(turn);
  sendReports(turn);
  askToBeWoken(turn);
  leaveWhenDone(turn);
  return { changes: noChanges, commands: turn.commands };
}

function handle(turn: Turn, input: AgentInput): void {
  switch (input.kind) {
    case 'ProviderAttached':
      return attach(turn);
    case 'ProviderLost':
      turn.state.isAttached = false;
      return;
    case 'ReplicasDispatched':
      return dispatchReplicas(turn, input.batch);
    case 'ReplicasCancelled':
      return cancelReplicas(turn, input.replicaIds, input.onlyWaiting);
    case 'ReportAcknowledged':
      return acknowledge(turn.state, input.sequence);
    case 'DrainRequested':
      return drain(turn);
    case 'StopRequested':
      return stopAll(turn, input.reason);
    case 'ContentArrived':
      return noteContent(turn, input.contentKey);
    case 'ContentRefused':
      return noteRefusal(turn, input);
    case 'InputsStaged':
      return noteStaged(turn, input.replicaId);
    case 'StagingFailed':
      return failStaging(turn, input.replicaId, input.verdict);
    case 'ProcessEnded':
      return finishProcess(turn, input);
    case 'RunnerEnded':
      return noteRunnerEnd(turn, input.slot);
    case 'LimitExceeded':
      return limitReplica(turn, input);
    case 'OutputsCollected':
      return finishCollection(turn, input);
    case 'CollectionFailed':
      return failCollection(turn, input.replicaId, input.verdict);
    case 'MemberListening':
      return noteListening(turn, input.held);
    case 'HoldFailed':
      return failHold(turn, input.replicaId, input.verdict);
    case 'GangStarted':
      return startGang(turn, input.start);
    case 'ClockStepped':
      return followClock(turn.state, input.by);
    case 'GangLost':
      return breakGang(turn, input.replicaId, input.detail);
    case 'TimerFired':
      return; // Every step handles what is due.
    default:
      return unreachable(input);
  }
}

function attach(turn: Turn): void {
  turn.state.isAttached = true;
  // Another broker, or one whose journal was restored, uses the same numbers for other jobs.
  endAllIdle(turn);
  resendReports(turn);
  askContentsAgain(turn);
}

function noteStaged(turn: Turn, replicaId: number): void {
  const replica = findHeld(turn, replicaId, 'staging');
  if (replica !== undefined) launchStaged(turn, replica);
}

function startGang(turn: Turn, start: StartGang): void {
  const replica = findStarting(turn, start);
  if (replica !== undefined) launchTask(turn, replica);
}

/** Asks for a timer unless one is set that fires early enough; with short tasks it is set a few times a second. */
function askToBeWoken(turn: Turn): void {
  const { state, now, commands } = turn;
  if (state.wakeAt !== undefined && state.wakeAt <= now) state.wakeAt = undefined;
  const at = Math.min(state.earliestDeadline, nextReportDue(state), nextIdleEnd(state));
  if (at === Infinity || (state.wakeAt !== undefined && state.wakeAt <= at)) return;
  state.wakeAt = at;
  commands.push({ kind: 'WakeAt', at });
}

function leaveWhenDone(turn: Turn): void {
  const { state, commands } = turn;
  if (!state.isDraining || state.hasLeft || state.replicas.size > 0 || state.endedIds.size > 0) return;
  state.hasLeft = true;
  commands.push({ kind: 'Leave' });
}
