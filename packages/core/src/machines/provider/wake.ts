import type { Instant } from '../../shared/index.ts';
import { nextAsking } from './ask-watching.ts';
import { nextHeld } from './decide-held.ts';
import { nextReserved } from './decide-reserved.ts';
import { standbyDue, mayBeStandby } from './standby.ts';
import { isWatching } from './heuristic.ts';
import { isStandby, leaseEnd } from './leases.ts';
import { graceEnd } from './machines.ts';
import { credentialEnd, isPending, isServing, type OwnRequest } from './state.ts';
import { isReleaseDue, nextRelease } from './submission.ts';
import type { Turn } from './turn.ts';

/** Asks to be woken at the next instant at which time alone changes a decision. */
export function scheduleWake(turn: Turn): void {
  const { state, now } = turn;
  const upcoming = listInstants(turn).filter((at) => at > now && at < Infinity);
  if (upcoming.length === 0) return;
  const at = upcoming.reduce((earliest, one) => Math.min(earliest, one));
  if (state.wakeAt > now && state.wakeAt <= at) return;
  state.wakeAt = at;
  turn.commands.push({ kind: 'WakeAt', at });
}

function listInstants(turn: Turn): Instant[] {
  const { state } = turn;
  const { brokerGrace, idleRelease } = state.config;
  const instants = [state.pausedUntil, ...nextReserved(turn), ...nextHeld(turn), ...nextWatched(turn)];
  for (const machine of state.machines.values()) {
    if (machine.attachmentId === 0) instants.push(graceEnd(state, machine));
    if (machine.isKeeping) instants.push(machine.quarantinedUntil);
  }
  const isHolding = [...state.requests.values()].some(isPending);
  for (const broker of state.brokers.values()) {
    instants.push(broker.connectionId === 0 ? broker.awaySince + brokerGrace : broker.resourceDue);
    if (isStandby(broker)) instants.push(leaseEnd(broker));
    else if (mayBeStandby(broker)) instants.push(standbyDue(state, broker));
    if (isHolding)
      instants.push(
        ...[broker.idleSince, broker.coveredSince].filter((since) => since > 0).map((since) => since + idleRelease),
      );
  }
  for (const request of state.requests.values()) instants.push(...instantsOfRequest(turn, request));
  return instants;
}

function nextWatched(turn: Turn): Instant[] {
  const {
    idleSince,
    config: { idleRelease },
  } = turn.state;
  return isWatching(turn.state)
    ? [...nextAsking(turn), ...[...idleSince.values()].map((since) => since + idleRelease)]
    : [];
}

function instantsOfRequest(turn: Turn, request: OwnRequest): Instant[] {
  if (isReleaseDue(request)) return [nextRelease(turn, request)];
  const isAlone = request.status === 'running' && isServing(request) && turn.state.listingFailure !== '';
  return isAlone ? [credentialEnd(turn.state, request)] : [];
}
