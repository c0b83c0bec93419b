import type { ReasonTable } from './parameters.ts';

/**
 * Something that tasks ask for in addition to processors. Amounts are in bytes, thousandths of a GPU, or units of the
 * named resource.
 */
const aboutResource = {
  resource: ['memory', 'gpus', 'named'],
  /** Of a named resource, or the kind of the GPUs; empty otherwise. */
  resourceName: 'text',
} as const;

/** Why tasks wait and machines take no work, as a broker answers when it is asked. */
export const waitingReasons = {
  // No machine.
  'no-provider': {},
  'no-machine-requested': {},
  'no-machine-not-requested': {},
  'no-machine-requests-ended': {},
  'no-machine-draining': {},
  'advise-provider-show': { providerId: 'text' },
  'provider-away': { providerId: 'text', cause: 'text' },
  'provider-is-draining': { providerId: 'text', sinceUnixMs: 'number', runningTasks: 'number', cause: 'text' },
  'advise-provider-undrain': { providerId: 'text' },

  // Machines that cannot be used, or not yet.
  'no-machine-matches': {
    machines: 'number',
    /** The folder that tasks start in; left out for ones that bring their files. */
    workFolder: 'text?',
  },
  'further-machines': { machines: 'number' },
  'all-machines-busy': { machines: 'number' },
  'earlier-request-sooner': {},
  'no-machine-accepts': { machines: 'number' },
  'all-machines-draining': {},
  'served-after-job': { jobId: 'number' },
  'served-after-priority': { jobId: 'number', priority: 'number', ownPriority: 'number' },
  'running-max-reached': { jobId: 'number', runningMax: 'number', running: 'number' },
  /** `taskIndex` where a task waits for its own of the other job. */
  'job-awaited': {
    awaitedId: 'number',
    condition: ['started', 'ended', 'succeeded', 'failed', 'each'],
    finishedTasks: 'number',
    tasks: 'number',
    taskIndex: 'number?',
  },
  'begin-awaited': { beginUnixMs: 'number', leftMs: 'number' },
  'no-machine-long-enough': { neededMs: 'number' },
  'needed-time-limit': {},
  'needed-time-longest': { completedTasks: 'number', cutOffTasks: 'number' },
  'needed-time-share': { percent: 'number', completedTasks: 'number', cutOffTasks: 'number' },
  'machine-time-left': { machineId: 'text', leftMs: 'number' },

  // Why one machine takes no work.
  'machine-provider-away': { machineId: 'text', providerId: 'text', cause: 'text' },
  'machine-provider-draining': { machineId: 'text', providerId: 'text', sinceUnixMs: 'number', cause: 'text' },
  'machine-draining': { machineId: 'text', sinceUnixMs: 'number', runningTasks: 'number', cause: 'text' },
  'machine-quarantined': {
    machineId: 'text',
    evidence: ['attribute', 'report', 'word', 'result'],
    cause: 'cause',
  },
  'machine-lost': { machineId: 'text', providerId: 'text' },
  'machine-unconfirmed': { machineId: 'text', providerId: 'text' },
  'machine-allocation-over': { machineId: 'text' },
  'machine-stopping': { machineId: 'text', pauseMs: 'number' },
  'machine-disk-full': { machineId: 'text', pauseMs: 'number' },
  'machine-broke-tasks': { machineId: 'text', brokenTasks: 'number', pauseMs: 'number' },
  'machine-not-connected': { machineId: 'text' },

  // Why one machine does not run certain tasks.
  'machine-busy': { machineId: 'text', tasks: 'number', freeProcessors: 'number', processors: 'number' },
  'machine-ends-awaited': { machineId: 'text', tasks: 'number' },
  'machine-nothing-pending': {},
  'machine-mismatch': { machineId: 'text', jobId: 'number' },
  'machine-reserved': { machineId: 'text', jobId: 'number' },
  'machine-outside-reservation': { machineId: 'text', jobId: 'number' },
  'machine-tasks-elsewhere': { machineId: 'text', jobId: 'number' },
  'machine-too-short': { machineId: 'text', jobId: 'number' },
  'machine-next': { machineId: 'text', jobId: 'number' },
  'machine-too-small': { machineId: 'text', taskProcessors: 'number', processors: 'number' },
  'resource-not-free': { ...aboutResource, needed: 'number', free: 'number', total: 'number', machineId: 'text' },
  'resource-lacking': { ...aboutResource, needed: 'number', total: 'number', machineId: 'text', machines: 'number' },
  'machine-resource-free': { machineId: 'text', ...aboutResource, free: 'number', total: 'number' },
  'machine-lacks-resource': { machineId: 'text', ...aboutResource, needed: 'number', total: 'number' },
  'machine-takes-no-gangs': { machineId: 'text' },
  'machine-of-one-user': { machineId: 'text', userId: 'text' },

  // Requirements that a machine does not meet.
  'requirement-bare-name': { machineId: 'text', requirement: 'text', attribute: 'text' },
  'requirement-not-stated': {
    machineId: 'text',
    requirement: 'text',
    attribute: 'text',
    /** A stated name that is spelled much alike. */
    similarAttribute: 'text?',
  },
  'requirement-not-met': {
    machineId: 'text',
    requirement: 'text',
    attribute: 'text',
    value: 'text',
    /** What keeps the two from being compared as numbers. */
    notNumeric: ['neither', 'wanted', 'stated'],
    wantedValue: 'text',
  },

  // Gangs: tasks of several processors that start together on several machines.
  'gangs-paused': { failedGangs: 'number', pauseMs: 'number' },
  'gang-offer': {
    providerId: 'text',
    usableProcessors: 'number',
    freeProcessors: 'number',
    outdatedMachines: 'number',
  },
  'gang-too-wide': {
    processors: 'number',
    usableProcessors: 'number',
    /** The provider that has most; left out if none has a machine that can take part. */
    providerId: 'text?',
  },
  'gang-gathering': { processors: 'number', freeProcessors: 'number', providerId: 'text' },

  // Reservations of jobs.
  'reservation-over-waits': { reservationId: 'number', resourceId: 'text' },
  'advise-job-retry': { jobId: 'number' },
  'reservation-provider-absent': { reservationId: 'number', resourceId: 'text' },
  'reservation-begins': { reservationId: 'number', resourceId: 'text', startMs: 'number' },
  'reservation-machines-absent': { reservationId: 'number', resourceId: 'text' },
  'reservation-was-over': {
    reservationId: 'number',
    resourceId: 'text',
    afterMs: 'number',
    endCode: 'text',
    tasksWait: 'flag',
  },
  'reservation-own': {
    reservationId: 'number',
    resourceId: 'text',
    reservedProcessors: 'number',
    isBegun: 'flag',
    /** Until it begins, or once it has begun until it ends. */
    leftMs: 'number',
  },
  'reservation-inside': { reservationId: 'number', resourceId: 'text', leftMs: 'number', tasksWait: 'flag' },

  // Choosing a resource.
  'site-selection-waits-for-queues': { providerIds: 'texts' },
  'site-selection-too-wide': { taskProcessors: 'number', widestProcessors: 'number' },
  'site-selection-unsuitable': { taskProcessors: 'number' },
  'site-selection-next': {},
  'site-selection-behind': { tasks: 'number' },
  'resource-size-unknown': { providerId: 'text' },
  'resource-size': {
    providerId: 'text',
    processors: 'number',
    requestProcessorsMax: 'number',
    obstacle: ['none', 'draining', 'small-machines', 'requirements'],
    machineProcessorsMax: 'number',
  },
} as const satisfies ReasonTable;
