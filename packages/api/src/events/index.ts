export { encodeEvents, type EventMessage, type ToldChange } from './cloud-events.ts';
export { encodeReservationEvents, type ToldReservationChange } from './reservation-events.ts';
export { eventSubject, eventSubjects } from './subjects.ts';
export { JobEvent } from '../generated/mutirao/event/v1/event.ts';
