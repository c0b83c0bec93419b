import { invariant } from '../../shared/index.ts';
import type { ReservationSyncState } from './state.ts';

/** @throws {InvariantError} when the state contradicts itself. Cost: O(reservations). */
export function checkInvariants({ kept, isAnnounced }: ReservationSyncState): void {
  invariant(isAnnounced || kept.size === 0, `${kept.size} reservations are known and none was announced`);
  for (const [id, { window, status, reason }] of kept) {
    invariant(window.reservationId === id, `reservation ${window.reservationId} is filed as ${id}`);
    invariant(
      window.startsAt < window.endsAt && window.count > 0,
      `reservation ${id} is of ${window.count} from ${window.startsAt} until ${window.endsAt}`,
    );
    invariant((status === 'refused') === (reason !== ''), `reservation ${id} is ${status} because of "${reason}"`);
  }
}
