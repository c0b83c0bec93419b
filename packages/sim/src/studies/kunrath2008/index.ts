export {
  getDifference,
  listPlacementSetups,
  listRefusalSetups,
  listUtilisationSetups,
  measure,
  getMean,
  reservationRunsCsv,
  type Measured,
  type ReservationStudySettings,
} from './measure.ts';
export { reportReservations, type ReservationReport, type ReservationStudy } from './report.ts';
export { runRequests, type RunResult, type Setup } from './run-requests.ts';
