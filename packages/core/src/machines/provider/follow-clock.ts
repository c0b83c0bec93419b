import type { QueueListing } from '../../messages/index.ts';
import { moveInstants, movedBy, type Duration, type Instant } from '../../shared/index.ts';
import type { KnownBroker, OwnRequest, ProvidedMachine } from './state.ts';
import { commit, type Turn } from './turn.ts';

const seenOfRequest = ['seenAt', 'unknownSince', 'releaseAskedAt'] as const satisfies readonly (keyof OwnRequest)[];
const seenOfBroker = [
  'awaySince',
  'idleSince',
  'coveredSince',
  'resourceDue',
] as const satisfies readonly (keyof KnownBroker)[];
const seenOfMachine = ['awaySince', 'quarantinedUntil'] as const satisfies readonly (keyof ProvidedMachine)[];

/**
 * The clock was set: graces, pauses and the ages of what was seen last as long as they were meant to. Reservations are
 * at the times that people agreed on.
 */
export function followClock(turn: Turn, by: Duration): void {
  const { state } = turn;
  commit(turn, { kind: 'ClockStepped', by, at: turn.now });
  moveInstants(state, ['startedAt'], by);
  // The next listing shows how far the manager's clock is ahead of the provider's now.
  state.managerOffset = undefined;
  if (state.listing !== undefined) state.listing = moveListing(state.listing, by);
  for (const request of state.requests.values()) moveInstants(request, seenOfRequest, by);
  for (const broker of state.brokers.values()) moveBroker(broker, by);
  for (const machine of state.machines.values()) {
    moveInstants(machine, seenOfMachine, by);
    machine.busySince = machine.busySince.map((at) => movedBy(at, by));
  }
  for (const [claim, judgement] of state.judgements)
    state.judgements.set(claim, { ...judgement, at: movedBy(judgement.at, by) });
  moveAll(state.expectedStarts, by);
  moveAll(state.idleSince, by);
  // The alarm was set by the clock as it was.
  state.wakeAt = 0;
}

function moveBroker(broker: KnownBroker, by: Duration): void {
  moveInstants(broker, seenOfBroker, by);
  moveInstants(broker.watch, ['askedAt', 'reviewAt'], by);
  if (broker.resourceReported !== undefined)
    broker.resourceReported = { ...broker.resourceReported, at: movedBy(broker.resourceReported.at, by) };
}

function moveListing(listing: QueueListing, by: Duration): QueueListing {
  const requests = listing.requests.map((request) => {
    const moved = { ...request };
    moveInstants(moved, ['submittedAt', 'startsAt', 'endedAt', 'rankedAt'], by);
    return moved;
  });
  return { ...listing, at: movedBy(listing.at, by), requests };
}

function moveAll<Key>(instants: Map<Key, Instant>, by: Duration): void {
  for (const [key, at] of instants) instants.set(key, movedBy(at, by));
}
