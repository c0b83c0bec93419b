import { movedBy } from '../../shared/index.ts';
import type { ReservationsInput } from './inputs.ts';
import { put } from './lifecycle.ts';
import type { Turn } from './turn.ts';

/**
 * The clock was set. Reservations stay at the times that people agreed on; holds last as long as they were meant to,
 * and the skipped time does not count as unclaimed.
 *
 * Cost: O(n) reservations that are not over.
 */
export function followClock(turn: Turn, { by }: ReservationsInput & { kind: 'ClockStepped' }): void {
  const { state, now } = turn;
  state.startedAt = now;
  for (const { calendar } of state.resources.values()) {
    for (const { id } of calendar.reservations()) {
      const known = state.reservations.get(id);
      if (known?.status === 'held') put(turn, 'held', { ...known, holdUntil: movedBy(known.holdUntil, by) });
    }
  }
  // The alarm was set by the clock as it was.
  state.wakeAt = undefined;
}
