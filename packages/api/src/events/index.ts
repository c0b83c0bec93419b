export { encodeEvents, type EventMessage, type ReportedChange } from './cloud-events.ts';
export { encodeReservationEvents, type ReportedReservationChange } from './reservation-events.ts';
export { eventSubject, eventSubjects } from './subjects.ts';
export { JobEvent } from '../generated/mutirao/event/v1/event.ts';
