import type { ReasonTable } from './parameters.ts';

/** What a broker says of requests and of reservations when it is asked why. */
export const explanationReasons = {
  'request-status': {
    requestName: 'text',
    processors: 'number',
    walltimeMs: 'number',
    status: ['drafted', 'submitting', 'queued', 'running', 'ended', 'rejected', 'vanished'],
    /** For how long; left out where that is not known. */
    sinceMs: 'number?',
    /** Left out where it is inside none. */
    reservationId: 'number?',
  },
  'request-heuristic': { heuristic: 'text' },
  'request-machines': { machineIds: 'texts' },
  'request-kept-for-tasks': { jobId: 'number', tasks: 'number' },
  'request-candidate': {
    isChosen: 'flag',
    processors: 'number',
    walltimeMs: 'number',
    /** From now on; negative for one in the past. */
    startMs: 'number',
    tasksPerHour: 'number',
  },
  'reservation-time-over': {},
  'job-progress': {
    jobId: 'number',
    tasks: 'number',
    finishedTasks: 'number',
    runningTasks: 'number',
    /** Why no task runs; left out while one does. */
    waiting: 'text?',
  },
} as const satisfies ReasonTable;
