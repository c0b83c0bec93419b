import type { BrokerEvent } from '@mutirao/core/machines/broker';

/** Where events are published on NATS: `mutirao.events.<noun>.<fact>.<id>`. */
export const eventSubjects = 'mutirao.events.>';

/** Letters of an id that a subject carries. */
const idLengthMax = 128;

/**
 * The NATS subject of an event; `mutirao.events.*.*.17` is all of job 17, `mutirao.events.job.>` all that is of whole
 * jobs.
 *
 * What no word of a subject may hold, a dot above all, stands as "_" in it; the event itself has the id as it is.
 */
export function eventSubject(event: BrokerEvent): string {
  return `mutirao.events.${event.type}.${idOf(event)
    .slice(0, idLengthMax)
    .replace(/[^\w/-]/g, '_')}`;
}

/** What an event is about, as a path: `jobs/17`, `machines/alpha/q3.0`. */
export function eventAbout(event: BrokerEvent): string {
  return `${getNoun(event)}s/${idOf(event)}`;
}

function getNoun({ type, jobId }: BrokerEvent): string {
  return jobId === 0 ? type.slice(0, type.indexOf('.')) : 'job';
}

function idOf(event: BrokerEvent): string {
  switch (getNoun(event)) {
    case 'provider':
      return event.providerId;
    case 'machine':
      return event.machineId;
    case 'request':
      return `${event.providerId}/${event.requestId}`;
    default:
      return String(event.jobId);
  }
}
