import type { JobEvent } from '@mutirao/api/broker';
import { findHappening } from '@mutirao/api/fault-texts';
import { findReasonDocument } from '@mutirao/api/reasons';

import type { GridEvent } from '../../schema/index.ts';

/** Task indexes of an event that are shown, and asked for. */
export const indexesShown = 20;

/** An event as the page lists it. */
export function gridEvent(event: JobEvent): GridEvent {
  return {
    sequence: event.sequence,
    at_unix_ms: event.atUnixMs,
    type: event.type,
    job_id: event.jobId === 0 ? null : event.jobId,
    task_indexes: event.taskIndexes.slice(0, indexesShown),
    task_count: event.taskCount ?? event.taskIndexes.length,
    machine_id: event.machineId,
    provider_id: event.providerId,
    request_id: event.requestId,
    reason: event.reason,
    why: sayWhy(event),
  };
}

/** The cause in its own words, else what its code stands for. */
function sayWhy({ cause, reason }: JobEvent): string {
  const text = findReasonDocument(cause)?.text ?? '';
  return text === '' ? (findHappening(reason) ?? reason) : text;
}
