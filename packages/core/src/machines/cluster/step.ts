import { unreachable, type Decision, type Instant } from '../../shared/index.ts';
import type { ClusterChange } from './changes.ts';
import type { ClusterCommand } from './commands.ts';
import type { ClusterInput } from './inputs.ts';
import {
  admitRequest,
  beginLife,
  endWalltimes,
  fitCapacity,
  followClock,
  getNextEvent,
  noteAway,
  noteExit,
  releaseRequest,
  startDueRequests,
} from './lifecycle.ts';
import { endReservations, nextOfReservations, noteReservations, noteShown, startInside } from './reservations.ts';
import type { ClusterState } from './state.ts';
import { Turn } from './turn.ts';

/**
 * Handles the inputs one at a time, each followed by its own starts, since queue policies are defined event by event:
 * how inputs
 * are cut into batches changes nothing.
 */
export function step(
  state: ClusterState,
  inputs: readonly ClusterInput[],
  now: Instant,
): Decision<ClusterChange, ClusterCommand> {
  const turn = new Turn(state, now);
  for (const input of inputs) {
    handle(turn, input);
    fitCapacity(turn);
    endWalltimes(turn);
    endReservations(turn);
    startDueRequests(turn, startInside(turn));
  }
  askToBeWoken(turn);
  return { changes: turn.changes, commands: turn.commands };
}

function handle(turn: Turn, input: ClusterInput): void {
  switch (input.kind) {
    case 'ClusterStarted':
      return beginLife(turn, input);
    case 'ProcessorsAway':
      return noteAway(turn, input);
    case 'AllocationRequested':
      return admitRequest(turn, input);
    case 'ReleaseRequested':
      return releaseRequest(turn, input);
    case 'ProcessExited':
      return noteExit(turn, input);
    case 'ReservationsReported':
      return noteReservations(turn, input);
    case 'ReservationShown':
      return noteShown(turn, input);
    case 'ClockStepped':
      return followClock(turn, input);
    case 'TimerFired':
      return; // After every input, due requests are handled.
    default:
      return unreachable(input);
  }
}

function askToBeWoken(turn: Turn): void {
  const { state, commands } = turn;
  const at = Math.min(getNextEvent(turn), nextOfReservations(state, turn.now));
  if (at === Infinity || at === state.wakeAt) return;
  state.wakeAt = at;
  commands.push({ kind: 'WakeAt', at });
}
