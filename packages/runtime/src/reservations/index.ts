export { ReservationDesk, type ReservationDeskOptions } from './reservation-desk.ts';
