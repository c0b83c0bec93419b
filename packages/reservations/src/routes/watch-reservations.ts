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
import { countOfPage, type CallContext, type ServerStreamHandler, type StreamWriter } from '@mutirao/runtime/rpc';
import type { ReservationsHost } from './reservations-host.ts';

/** Changes read from the journal at a time: what a slow watcher costs in memory. */
const readMax = 200;

/**
 * Tells what happens to the user's reservations, and to those of resources about which the user decides, from a
 * sequence on.
 *
 * Everything is read from the journal, also what has just happened: a watcher that falls behind costs nothing but its
 * place, and one that comes
 * back with the last sequence that it saw misses nothing.
 */
export function watchRoute(
  host: ReservationsHost,
): ServerStreamHandler<WatchReservationsRequest, WatchReservationsResponse> {
  return async (request, writer, context) => {
    if (!request.onlyNew) requirePosition(request, host.journal, host.journalInstance);
    let after = request.onlyNew ? host.journal.lastSequence() : request.afterSequence;
    let hasCaughtUp = false;
    for (;;) {
      if (isOver(context)) return;
      const seen = host.changes.count;
      const last = await reportPage(
        host,
        { after, reservationId: request.reservationId },
        { userId: context.userId, writer },
      );
      if (last !== undefined) {
        after = last;
        continue;
      }
      if (!hasCaughtUp) writer.write({ events: [], lastSequence: after, journalInstance: host.journalInstance });
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
 * Tells what one read of the journal brings and returns the last sequence that was read; undefined when there was none.
 */
async function reportPage(
  host: ReservationsHost,
  { after, reservationId }: { readonly after: number; readonly reservationId: number },
  { userId, writer }: Watcher,
): Promise<number | undefined> {
  const entries = host.journal.read({ after, limit: readMax });
  for (const { sequence, at, change } of entries) {
    const events = listEvents(change).filter(
      (event) =>
        (reservationId === 0 || event.reservation?.place.id === reservationId) && concerns(host, userId, event),
    );
    if (events.length === 0) continue;
    for (const message of listPages(
      events.map((event) => encodeReservationEvent(sequence, at, event)),
      sequence,
    )) {
      if (!writer.write({ ...message, journalInstance: host.journalInstance })) await writer.drained();
    }
  }
  return entries.at(-1)?.sequence;
}

/**
 * The events of one change, which may be of many reservations, in messages that any client takes. Who comes back
 * between them hears of the change again.
 */
function* listPages(events: readonly ReservationEventWire[], sequence: number): Generator<WatchReservationsResponse> {
  for (let left = events; left.length > 0; ) {
    const count = countOfPage(left, (event) => ReservationEventWire.encode(event).finish().length);
    yield { events: left.slice(0, count), lastSequence: count < left.length ? sequence - 1 : sequence };
    left = left.slice(count);
  }
}

/** Resources are everybody's to see; reservations are their users', and those's who decide about the resource. */
function concerns({ state }: ReservationsHost, userId: UserId, { reservation, resourceId }: ReservationEvent): boolean {
  if (reservation === undefined || reservation.place.userId === userId || userId === state.options.ownerId) return true;
  return state.resources.get(resourceId)?.resource.ownerId === userId;
}
