import { defineForEach } from '../../reservations/each-reservation.ts';

export const define = defineForEach<{ readonly manager?: string; readonly reason?: string }>(
  (command) => command.option('--reason <text>', "why; wanted for another user's, of a resource that is yours"),
  (manager, reservationId, { reason }) => manager.cancelReservation({ reservationId, reason: reason ?? '' }),
);
