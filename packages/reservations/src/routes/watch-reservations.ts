import { encodeReservationEvent } from '@mutirao/api/codecs';
import { MutiraoError } from '@mutirao/api/errors';
import {
  ReservationEvent as ReservationEventWire,
  type WatchReservationsRequest,
  type WatchReservationsResponse,
} from '@mutirao/api/reservation';
import { listEvents, type ReservationEvent } from '@mutirao/core/machines/reservations';
import type { UserId } from '@mutirao/core/shared';
import { requirePosition } from '@mutirao/runtime/journal';
import {
  isBehind,
  partsOfEvents,
  type CallContext,
  type ServerStreamHandler,
  type StreamWriter,
  type WatchPlace,
} from '@mutirao/runtime/rpc';
import type { ReservationsHost } from './reservations-host.ts';

/** Changes read from the journal at a time: what a slow watcher costs in memory. */
const readMax = 200;

/**
 * Sends events of the user's reservations, and of those of resources that the user manages, from a sequence on.
 *
 * Everything is read from the journal, also the newest events. A watcher that falls behind costs nothing but its
 * position, and one that returns with the position of its last message misses nothing and gets nothing again.
 */
export function watchRoute(
  host: ReservationsHost,
): ServerStreamHandler<WatchReservationsRequest, WatchReservationsResponse> {
  return async (request, writer, context) => {
    if (!request.onlyNew) requirePosition(request, host.journal, host.journalInstance);
    const { afterSequence, afterEventCount } = request;
    let place: WatchPlace = request.onlyNew
      ? { afterSequence: host.journal.lastSequence() }
      : { afterSequence, afterEventCount };
    let hasCaughtUp = false;
    for (;;) {
      if (isOver(context)) return;
      const seen = host.changes.count;
      const last = await reportPage(
        host,
        { place, reservationId: request.reservationId },
        { userId: context.userId, writer },
      );
      if (last !== undefined) {
        place = { afterSequence: last };
        continue;
      }
      if (!hasCaughtUp)
        writer.write({ events: [], lastSequence: place.afterSequence, journalInstance: host.journalInstance });
      hasCaughtUp = true;
      await host.changes.changed(seen, AbortSignal.any([context.signal, context.stopping]));
    }
  };
}

/** @throws {MutiraoError} MUT_STOPPING, so that the watcher knows to come again. */
function isOver({ signal, stopping }: CallContext): boolean {
  if (signal.aborted) return true;
  if (stopping.aborted)
    throw new MutiraoError(
      'MUT_STOPPING',
      'the manager is stopping; watch again from the last sequence when it is back',
    );
  return false;
}

interface Watcher {
  readonly userId: UserId;
  readonly writer: StreamWriter<WatchReservationsResponse>;
}

/**
 * Sends the events of one read of the journal and returns the last sequence that was read; undefined when there was
 * none.
 */
async function reportPage(
  host: ReservationsHost,
  { place, reservationId }: { readonly place: WatchPlace; readonly reservationId: number },
  { userId, writer }: Watcher,
): Promise<number | undefined> {
  const entries = host.journal.read({ after: place.afterSequence, limit: readMax });
  for (const { sequence, at, change } of entries) {
    const isWatched = (event: ReservationEvent): boolean =>
      (reservationId === 0 || event.reservation?.place.id === reservationId) && concerns(host, userId, event);
    const events = listEvents(change)
      .map((event, index) => ({ event, sequence, number: index + 1 }))
      .filter((one) => isBehind(place, one) && isWatched(one.event))
      .map((one) => ({ ...one, event: encodeReservationEvent(sequence, at, one.event) }));
    for (const message of partsOfEvents(events, (event) => ReservationEventWire.encode(event).finish().length))
      if (!writer.write({ ...message, journalInstance: host.journalInstance })) await writer.drained();
  }
  return entries.at(-1)?.sequence;
}

/** Resources are everybody's to see; reservations are their users', and those's who decide about the resource. */
function concerns({ state }: ReservationsHost, userId: UserId, { reservation, resourceId }: ReservationEvent): boolean {
  if (reservation === undefined || reservation.place.userId === userId || userId === state.options.ownerId) return true;
  return state.resources.get(resourceId)?.resource.ownerId === userId;
}
