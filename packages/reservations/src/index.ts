export { startReservations, type ReservationsSetup, type RunningReservations } from './start-reservations.ts';
