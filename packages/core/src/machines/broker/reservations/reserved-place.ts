import {
  isOfReservation,
  nameReservation,
  reservationKey,
  type JobReservation,
  type ReservationName,
} from '../../../messages/index.ts';
import type { ProcessorCount } from '../../../shared/index.ts';
import type { BrokerJob, BrokerState, MovedWindow } from '../state.ts';

/** The reservation that a job's tasks run inside of now; undefined where it has none, or none any more. */
export function reservationNow({ reservation, reservationOver }: BrokerJob): JobReservation | undefined {
  return reservationOver === undefined ? reservation : undefined;
}

/**
 * Whether a job's tasks run wherever there is a machine: it has no reservation but its own, or went on when that was
 * over.
 */
export function runsBeside({ reservation, reservationOver }: BrokerJob): boolean {
  return reservation === undefined || reservation.isOwn === true || reservationOver?.waits === false;
}

/** Whether a job's tasks may run in a place: tasks inside a reservation stay there, and no others may use it. */
export function belongsTo(job: BrokerJob, place: ReservationName | undefined): boolean {
  if (place === undefined) return runsBeside(job);
  const own = reservationNow(job);
  return own !== undefined && isOfReservation(own, place);
}

/** When a reservation is, if that is known to differ from its claim; undefined otherwise. */
export function findMoved({ movedReservations }: BrokerState, reservation: JobReservation): MovedWindow | undefined {
  return movedReservations.size === 0 ? undefined : movedReservations.get(reservationKey(nameReservation(reservation)));
}

/** The processors of a reservation: as its resource last reported, else as its claim says. */
export function getAmount(state: BrokerState, reservation: JobReservation): ProcessorCount {
  return findMoved(state, reservation)?.amount ?? reservation.amount;
}

/** When a reservation is: as its resource last reported, else as its claim says. */
export function getWindow(state: BrokerState, reservation: JobReservation): MovedWindow {
  return findMoved(state, reservation) ?? reservation;
}
