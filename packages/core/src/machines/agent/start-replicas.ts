import { endReplica, success } from './end-replica.ts';
import { holdMember } from './gang.ts';
import { hasReportRoom } from './dispatch-replicas.ts';
import { removeFromQueue } from './queue.ts';
import { setDeadline } from './deadlines.ts';
import { choosePlace, occupyPlace, type Place } from './runners.ts';
import type { AgentState, HeldReplica } from './state.ts';
import type { Turn } from './turn.ts';

/** Starts waiting replicas in order, while processors are free and ends find room. */
export function startReplicas(turn: Turn): void {
  const { state } = turn;
  while (state.freeSlots.length > 0 && hasReportRoom(state)) {
    const found = findStartable(state);
    if (found === undefined) return;
    const { replica, place } = found;
    removeFromQueue(state, replica);
    if (replica.template.noOp) {
      replica.startedAt = turn.now;
      endReplica(turn, replica, success);
    } else {
      startReplica(turn, replica, place);
    }
  }
}

/** The inputs of a replica are in place. */
export function launchStaged(turn: Turn, replica: HeldReplica): void {
  if (replica.verdict === undefined) holdOrLaunch(turn, replica);
  else endReplica(turn, replica, replica.verdict);
}

/**
 * Finds the first replica that can start. One whose contents are on their way lets others pass; one that waits for
 * processors or other resources does not, or it might wait for ever.
 */
function findStartable(state: AgentState): { readonly replica: HeldReplica; readonly place: Place } | undefined {
  const windowEnd = Math.min(state.queue.length, state.options.prefetchMax);
  for (let index = 0; index < windowEnd; index++) {
    const replica = state.queue[index];
    if (replica === undefined || !replica.isAsked || replica.missingCount > 0) continue;
    const place = choosePlace(state, replica);
    return place === undefined ? undefined : { replica, place };
  }
  return undefined;
}

function startReplica(turn: Turn, replica: HeldReplica, place: Place): void {
  const { commands } = turn;
  occupyPlace(turn, replica, place);
  if (replica.start.inputs.length === 0) {
    holdOrLaunch(turn, replica);
  } else {
    replica.status = 'staging';
    replica.inputsPlacingAt = turn.now;
    commands.push({ kind: 'StageIn', replica });
  }
}

function holdOrLaunch(turn: Turn, replica: HeldReplica): void {
  if (replica.start.gang === undefined) launchTask(turn, replica);
  else holdMember(turn, replica);
}

/** Has a replica's process started. */
export function launchTask(turn: Turn, replica: HeldReplica): void {
  const { state, now, commands } = turn;
  replica.status = 'running';
  replica.startedAt = now;
  const { runTimeMax } = replica.template.limits;
  if (runTimeMax > 0) setDeadline(state, replica, now + runTimeMax);
  state.unreportedStarts.push(replica);
  commands.push({ kind: 'LaunchTask', replica });
}
