export { ReservationClient, type ReservationClientOptions, type ReservationUse } from './reservation-client.ts';
