import type { ReasonTable } from './parameters.ts';

const reservationStatus = ['held', 'confirmed', 'claimed', 'released', 'expired', 'cancelled'] as const;

/** What a broker says of jobs, tasks, requests and reservations when it is asked why. */
export const explanationReasons = {
  // Requests.
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
  /** Before the reasons that were given then. */
  'request-reasons-then': { sinceMs: 'number' },
  'request-heuristic': { heuristic: 'text' },
  'request-machines': { machineIds: 'texts' },
  'request-kept-for-tasks': { jobId: 'number', tasks: 'number' },
  'request-assigned-tasks': { providerId: 'text', jobId: 'number', tasks: 'number' },
  'request-candidate': {
    isChosen: 'flag',
    processors: 'number',
    walltimeMs: 'number',
    /** From now on; negative for one in the past. */
    startMs: 'number',
    tasksPerHour: 'number',
  },
  'reservation-time-over': {},

  // Jobs.
  'job-progress': { jobId: 'number', tasks: 'number', finishedTasks: 'number', runningTasks: 'number' },
  'job-open': { jobId: 'number' },
  'job-cancelling': { jobId: 'number', cause: 'cause', openTasks: 'number' },
  'job-ended': { jobId: 'number', status: ['running', 'finished', 'failed', 'cancelled'], afterMs: 'number' },
  'tasks-waiting': { tasks: 'number' },
  'tasks-verifying': { tasks: 'number' },
  'checks-running': { checks: 'number', longestMs: 'number' },
  'checks-waiting': { checks: 'number', checksMax: 'number' },
  'tasks-failed': { tasks: 'number', failuresMax: 'number' },
  'tasks-failed-listed': { tasks: 'number', jobId: 'number' },
  'tasks-cancelled': { tasks: 'number', cause: 'cause' },
  'tasks-blocked': { tasks: 'number' },
  'tasks-held': { tasks: 'number', jobId: 'number' },
  'job-expires': { expireUnixMs: 'number', leftMs: 'number' },
  'tasks-waiting-for-others': { tasks: 'number' },
  'tasks-reused': { tasks: 'number', jobId: 'number' },
  'replicas-started': { replicas: 'number', tasks: 'number' },
  'job-site-selection': {
    strategy: 'text',
    admissibility: 'text',
    isAdaptive: 'flag',
    isDefault: 'flag',
    /** Tasks at each provider, as `lab=3`. */
    tasksByProvider: 'texts',
  },
  'job-planned-end': { endMs: 'number' },
  'job-rest': { slots: 'number', leastMs: 'number', mostMs: 'number' },
  'task-times': {
    completedTasks: 'number',
    cutOffTasks: 'number',
    /** Half of the tasks take no longer; left out where that is not known. */
    medianMs: 'number?',
    /** Nine tenths take no longer. */
    ninetiethMs: 'number?',
  },

  'memory-at-start': { memoryBytes: 'number', completedTasks: 'number', neededTasks: 'number' },
  'memory-chosen': { memoryBytes: 'number', completedTasks: 'number', percent: 'number' },
  'memory-use': {
    /** The range of the requests of its groups' tasks; the same twice if all are equal. */
    leastAskedBytes: 'number',
    mostAskedBytes: 'number',
    completedTasks: 'number',
    /** Half of the tasks use this or less; nine tenths as below. */
    medianBytes: 'number',
    ninetiethBytes: 'number',
  },

  // Reservations. Amounts are in base units of their dimension.
  'reservation-over-since': {
    reservationId: 'number',
    resourceId: 'text',
    amount: 'number',
    status: reservationStatus,
    endedUnixMs: 'number',
    cause: 'cause',
  },
  'reservation-waits': {
    reservationId: 'number',
    resourceId: 'text',
    amount: 'number',
    status: reservationStatus,
    startMs: 'number',
    startUnixMs: 'number',
  },
  'reservation-runs': {
    reservationId: 'number',
    resourceId: 'text',
    amount: 'number',
    status: reservationStatus,
    startUnixMs: 'number',
    leftMs: 'number',
  },
  'reservation-place': { cause: 'cause' },
  'reservation-place-changed': { changes: 'number' },

  // Replicas.
  'replication-none': { scheduler: 'text' },
  'replication-single': { scheduler: 'text' },
  'replication-up-to': { scheduler: 'text', replicasMax: 'number', prefersInputs: 'flag' },
  'replication-idle-only': { heldMachines: 'number', idleMachines: 'number' },
  'replication-budget': {
    percent: 'number',
    usedMs: 'number',
    losersMs: 'number',
    atRiskMs: 'number',
    leftMs: 'number',
    isSpent: 'flag',
  },
  'no-replica-times-unknown': {},
  'no-replica-budget': { neededMs: 'number' },

  // Delegation to providers.
  'task-delegated': { providerId: 'text', leftMs: 'number' },
  'task-awaits-provider': { providerId: 'text', waitMs: 'number' },
  'job-delegated': { providerId: 'text', tasks: 'number', leftMs: 'number' },
  'replica-started-by-provider': { replicaId: 'number', machineId: 'text', providerId: 'text' },
} as const satisfies ReasonTable;
