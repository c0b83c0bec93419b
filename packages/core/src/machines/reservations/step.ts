import { unreachable, type Decision, type Instant } from '../../shared/index.ts';
import type { ReservationsChange } from './changes.ts';
import type { ReservationsCommand } from './commands.ts';
import type { ReservationsInput } from './inputs.ts';
import { cancel, confirm, endDue, forgetOld, noteProvisioning, release, showClaim, reportUse } from './lifecycle.ts';
import { followClock } from './follow-clock.ts';
import { renegotiate, requestReservation } from './place.ts';
import {
  announceMaintenance,
  changeRules,
  failResource,
  registerResource,
  restoreResource,
  withdrawMaintenance,
} from './resources.ts';
import { onDecision, prepare } from './prepare.ts';
import type { ReservationsState } from './state.ts';
import { Turn } from './turn.ts';

/**
 * Ends what is due, then answers the inputs in the order in which they came: placement is on line, first come, first
 * served.
 */
export function step(
  state: ReservationsState,
  inputs: readonly ReservationsInput[],
  now: Instant,
): Decision<ReservationsChange, ReservationsCommand> {
  const turn = new Turn(state, now);
  // Before anything is given back as unclaimed: claims could not be shown while the manager was down.
  if (inputs.some(({ kind }) => kind === 'ManagerStarted')) state.startedAt = now;
  for (const input of inputs) if (input.kind === 'ClockStepped') followClock(turn, input);
  endDue(turn);
  for (const input of inputs) handle(turn, input);
  endDue(turn);
  forgetOld(turn);
  askToBeWoken(turn);
  return { changes: turn.changes, commands: turn.commands };
}

function handle(turn: Turn, input: ReservationsInput): void {
  switch (input.kind) {
    case 'ReservationRequested':
      return requestReservation(turn, input);
    case 'RenegotiationRequested':
      return renegotiate(turn, input);
    case 'ConfirmationRequested':
      return confirm(turn, input);
    case 'PrepareRequested':
      return prepare(turn, input);
    case 'CancellationRequested':
      return cancel(turn, input);
    case 'ReleaseRequested':
      return release(turn, input);
    case 'ClaimShown':
      return showClaim(turn, input);
    case 'UseReported':
      return reportUse(turn, input);
    case 'ProvisioningReported':
      return noteProvisioning(turn, input);
    case 'ResourceOffered':
      return registerResource(turn, input);
    case 'RulesChanged':
      return changeRules(turn, input);
    case 'MaintenanceAnnounced':
      return announceMaintenance(turn, input);
    case 'MaintenanceWithdrawn':
      return withdrawMaintenance(turn, input);
    case 'ResourceFailed':
      return failResource(turn, input);
    case 'ResourceRestored':
      return restoreResource(turn, input);
    case 'GroupDecided':
      return onDecision(turn, input);
    case 'ManagerStarted':
    case 'ClockStepped':
    case 'TimerFired':
      return; // Every step handles what is due.
    default:
      return unreachable(input);
  }
}

function askToBeWoken(turn: Turn): void {
  const { state, commands } = turn;
  const at = state.timers.first?.at;
  if (at === undefined || at === state.wakeAt) return;
  state.wakeAt = at;
  commands.push({ kind: 'WakeAt', at });
}
