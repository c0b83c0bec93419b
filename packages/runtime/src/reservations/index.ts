export { ReservationDesk, type ReservationDeskOptions, type ReservationUse } from './reservation-desk.ts';
