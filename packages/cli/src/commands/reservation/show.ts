import { defineForEach } from '../../reservations/each-reservation.ts';

export const define = defineForEach(
  (command) => command,
  (manager, reservationId) => manager.getReservation({ reservationId }),
);
