import type { ReasonTable } from './parameters.ts';

/** Why a job, a request to a resource or another call to a machine's owner is refused. */
export const jobFaults = {
  // Not there, or another user's, which looks the same.
  'job-not-found': { jobId: 'number' },
  'job-has-ended': { jobId: 'number' },
  'machine-not-found': { machineId: 'text' },
  'provider-not-found': { providerId: 'text' },
  'provider-connected': { providerId: 'text' },
  'machine-record-not-found': { machineId: 'text' },
  'request-not-found': { requestId: 'number' },

  'disk-full': {},

  // Numbers and names of a job.
  'job-number-out-of-range': {
    field: 'text',
    value: 'number',
    least: 'number',
    most: 'number',
    groupIndex: 'number?',
  },
  'job-scheduler-unknown': { scheduler: 'text', nearest: 'text?', names: 'texts' },
  'job-without-groups': {},
  'job-group-without-tasks': { groupIndex: 'number', tasks: 'number' },
  'job-tasks-too-many': { tasks: 'number', tasksMax: 'number' },
  'job-edges-tasks-too-many': { tasks: 'number', tasksMax: 'number' },
  'job-gang-width-differs': {
    groupIndex: 'number',
    processorsMin: 'number',
    processorsMax: 'number',
    jobProcessors: 'number',
  },
  'job-values-invalid': { groupIndex: 'number', first: 'number', step: 'number' },
  'job-value-with-nul': { groupIndex: 'number' },
  'job-command-empty': { groupIndex: 'number' },
  'job-command-with-nul': { groupIndex: 'number' },
  'job-command-unsafe': { groupIndex: 'number', field: ['command', 'check'], cause: 'cause' },
  'job-requirements-unreadable': { groupIndex: 'number', cause: 'cause' },
  'job-path-outside': { groupIndex: 'number', path: 'text', root: 'text' },

  // Jobs that wait for others, and for a time.
  'job-dependencies-too-many': { jobs: 'number', jobsMax: 'number' },
  'job-dependency-unknown': { awaitedId: 'number' },
  'job-dependency-twice': { awaitedId: 'number', condition: ['started', 'ended', 'succeeded', 'failed', 'each'] },
  'job-dependency-unequal': { awaitedId: 'number', tasks: 'number', awaitedTasks: 'number' },
  'job-expires-before-begin': { beginUnixMs: 'number', expireUnixMs: 'number' },

  // Jobs that cannot be forgotten.
  'forget-open-job': { jobId: 'number' },
  'forget-job-on-machines': { jobId: 'number', runningTasks: 'number' },

  // Open jobs.
  'job-closed': { jobId: 'number', status: 'text' },
  'append-without-key': {},
  'append-key-reused': { key: 'text', firstTaskIndex: 'number', tasks: 'number', tasksGiven: 'number' },
  'appends-too-many': { jobId: 'number', appendsMax: 'number' },
  'append-groups-too-many': { jobId: 'number', groups: 'number', groupsMax: 'number' },
  'open-job-with-edges': { edges: 'number' },
  'open-job-with-gathering': {},

  // What does not go together.
  'alternatives-with-gang': { groupIndex: 'number' },
  'alternatives-with-scheduler': { groupIndex: 'number', scheduler: 'text' },
  'alternative-repeated': { groupIndex: 'number', alternative: 'number', first: 'number' },
  'gang-with-votes': { verification: ['vote', 'credibility'] },
  'gang-with-replicas': { replicasMax: 'number' },
  'gang-with-plan': {},
  'gang-without-command': { groupIndex: 'number' },
  'verification-without-check': { groupIndex: 'number' },
  'verification-without-results': { groupIndex: 'number', verification: ['vote', 'credibility'] },
  'verification-votes-invalid': { votes: 'number', votesMax: 'number' },
  'verification-credibility-invalid': { threshold: 'number' },
  'verification-credibility-unreachable': { threshold: 'number', thresholdMax: 'number', votesMax: 'number' },
  'site-selection-with-plan': { siteSelection: 'text' },
  'site-selection-with-reservation': { siteSelection: 'text' },
  'site-selection-with-votes': { siteSelection: 'text', verification: ['vote', 'credibility'] },
  'site-selection-strategy-unknown': { text: 'text', nearest: 'text?', names: 'texts' },
  'site-selection-admissibility-invalid': { text: 'text', admissibility: 'text' },

  // Workflows and resumed jobs.
  'workflow-expected-time-invalid': { groupIndex: 'number', expectedMs: 'number' },
  'workflow-input-without-edge': { taskIndex: 'number', path: 'text', producerIndex: 'number' },
  'workflow-input-not-written': { taskIndex: 'number', path: 'text', producerIndex: 'number' },
  'workflow-input-conditional': { taskIndex: 'number', path: 'text', producerIndex: 'number' },
  'workflow-input-archived': { taskIndex: 'number', path: 'text', producerIndex: 'number' },
  'resumption-order-invalid': { taskIndex: 'number', previousIndex: 'number', tasks: 'number' },
  'resumption-incomplete': { taskIndex: 'number', predecessorIndex: 'number' },
  'retry-task-unknown': { taskIndex: 'number', jobId: 'number', taskIndexMax: 'number' },
  'retry-leaves-failed-tasks': { jobId: 'number', failedTasks: 'number', failedTasksMax: 'number' },

  // Inside reservations.
  'job-reservation-ended': { reservationId: 'number', endedMs: 'number' },
  'job-reservation-is-share': { reservationId: 'number' },
  'job-reservation-single-processors': { reservationId: 'number', processors: 'number' },
  'job-reservation-too-small': { reservationId: 'number', processors: 'number', reservedProcessors: 'number' },
  'job-reservation-unavailable': { reservationId: 'number' },

  // Providers.
  'provider-id-invalid': { providerId: 'text' },
  'provider-address-empty': {},
  'heuristic-without-requests': { providerId: 'text' },
  'heuristic-task-time-invalid': { taskMs: 'number' },
  'heuristic-unknown': { heuristic: 'text', names: 'texts', nearest: 'text?' },

  // Requests to a cluster.
  'request-user-empty': {},
  'request-command-empty': {},
  'request-width-invalid': { processors: 'number' },
  'request-walltime-invalid': { walltimeMs: 'number' },
  'request-too-wide': { processors: 'number', processorsMax: 'number' },
  'request-slots-unsupported': {},
  'request-width-not-in-slots': { processors: 'number', slotProcessors: 'number' },
  'request-slot-too-large': {
    processors: 'number',
    memoryBytes: 'number',
    gpus: 'number',
    gpuKind: 'text',
    processorsMax: 'number',
    memoryBytesMax: 'number',
    gpusMax: 'number',
  },
  'request-too-long': { walltimeMs: 'number', walltimeMsMax: 'number' },
  'request-reservation-unknown': { reservationId: 'number' },
  'request-reservation-of-another-user': { reservationId: 'number', ownerId: 'text', userId: 'text' },
  'request-wider-than-reservation': { reservationId: 'number', processors: 'number', reservedProcessors: 'number' },
  'request-longer-than-reservation': { reservationId: 'number', walltimeMs: 'number', reservedMs: 'number' },
  'request-count-reached': { userId: 'text', requests: 'number', requestsMax: 'number' },
} as const satisfies ReasonTable;
