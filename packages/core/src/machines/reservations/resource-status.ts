import type { ReservationRecord } from '../../messages/index.ts';

/** Whether a reservation holds its place. */
export function isLiving({ status }: Pick<ReservationRecord, 'status'>): boolean {
  return status === 'held' || status === 'confirmed' || status === 'claimed';
}

/** Whether a reservation is held until another one is decided on. */
export function isPrepared({ status, together, place }: ReservationRecord): boolean {
  return (
    status === 'held' && together !== undefined && !(together.manager === '' && together.reservationId === place.id)
  );
}

/** A reservation whose place says whether it is only held. */
export function getFiled(reservation: ReservationRecord): ReservationRecord {
  const { place, status } = reservation;
  if ((status === 'held') === (place.isHeld === true)) return reservation;
  if (status === 'held') return { ...reservation, place: { ...place, isHeld: true } };
  const { isHeld: _, ...rest } = place;
  return { ...reservation, place: rest };
}
