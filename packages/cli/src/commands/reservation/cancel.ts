import { defineForEach } from '../../reservations/each-reservation.ts';

export const define = defineForEach<{ readonly manager?: string; readonly reason?: string }>(
  (command) => command.option('--reason <text>', 'the reason; required for reservations of other users'),
  (manager, reservationId, { reason }) => manager.cancelReservation({ reservationId, reason: reason ?? '' }),
);
