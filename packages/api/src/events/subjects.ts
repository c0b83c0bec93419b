import type { JobEventType } from '@mutirao/core/machines/broker';
import type { JobId } from '@mutirao/core/shared';

/** Where events are published on NATS: `mutirao.events.<noun>.<fact>.<job id>`. */
export const eventSubjects = 'mutirao.events.>';

/** The NATS subject of a job's event; `mutirao.events.*.*.17` is all of job 17, `mutirao.events.job.>` all that is of whole jobs. */
export function eventSubject(type: JobEventType, jobId: JobId): string {
  return `mutirao.events.${type}.${jobId}`;
}
