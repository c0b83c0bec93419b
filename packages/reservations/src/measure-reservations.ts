import type { ReservationsChange, ReservationsState } from '@mutirao/core/machines/reservations';
import type { Journal } from '@mutirao/runtime/journal';
import type { Metrics } from '@mutirao/runtime/metrics';

/** The parts that are measured. */
export interface MeasuredParts {
  readonly state: ReservationsState;
  readonly journal: Journal<ReservationsChange>;
}

/** The series of a reservation manager. */
export function measureReservations(metrics: Metrics, { state, journal }: MeasuredParts): void {
  metrics.gauge('mutirao_reservations_resources', 'Registered resources.', [], (gauge) => {
    gauge.set(state.resources.size);
  });
  metrics.gauge(
    'mutirao_reservations_living',
    'Reservations that have not ended, by resource.',
    ['resource'],
    (gauge) => {
      for (const [id, { livingCount }] of state.resources) gauge.set({ resource: id }, livingCount);
    },
  );
  metrics.gauge('mutirao_reservations_remembered', 'Reservations in memory, ended ones included.', [], (gauge) => {
    gauge.set(state.reservations.size);
  });
  metrics.gauge('mutirao_reservations_journal_changes', 'Changes in the journal since it was created.', [], (gauge) => {
    gauge.set(journal.lastSequence());
  });
}
