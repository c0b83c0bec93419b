import type { ReasonTable } from './parameters.ts';

/** What a request asks for, and when it is expected to start, counted from the decision. */
const plannedRequest = {
  processors: 'number',
  walltimeMs: 'number',
  startMs: 'number',
  expectedStartMs: 'number',
} as const;

/** Why a request heuristic asks for what it asks for, or for nothing. */
export const requestReasons = {
  'no-pending-tasks': {},
  'all-tasks-have-slots': {},
  'request-slots-taken': { slots: 'number', pendingRequests: 'number' },
  'request-slots-taken-nothing-free': { slots: 'number' },
  'task-too-wide': { taskProcessors: 'number', requestProcessorsMax: 'number' },
  'walltime-below-granularity': { walltimeMsMax: 'number', granularityMs: 'number' },

  // Task run times.
  'task-time-default': { taskMs: 'number', isCut: 'flag' },
  'task-time-from-longest-here': { taskMs: 'number', longestMs: 'number', completedTasks: 'number', isCut: 'flag' },
  'task-time-from-elsewhere': { taskMs: 'number', longestMs: 'number', completedTasks: 'number', isCut: 'flag' },
  'task-time-from-idle-requests': { taskMs: 'number', idleMs: 'number', isCut: 'flag' },
  'task-time-median-elsewhere': { taskMs: 'number', completedTasks: 'number' },
  'task-time-learnt': {
    taskMs: 'number',
    longerTaskMs: 'number?',
    completedTasks: 'number',
    longerRunningTasks: 'number',
  },
  'task-time-unknown': { shortestMs: 'number', longestMs: 'number' },
  'task-time-outlasted': { shortestMs: 'number', longestMs: 'number', outlastedMs: 'number' },

  // `static`.
  'static-equal-shares': {
    tasks: 'number',
    isPartOfDemand: 'flag',
    taskProcessors: 'number',
    freeSlots: 'number',
    slots: 'number',
    pendingRequests: 'number',
    requestProcessors: 'number',
    requestProcessorsMax: 'number',
  },
  'static-largest-width': { processors: 'number' },
  'static-longest-walltime': { walltimeMs: 'number' },

  // `initial`.
  'initial-requests': { requests: 'number' },
  'initial-free-now': { processors: 'number', walltimeMs: 'number' },
  'initial-nothing-free': { processors: 'number', waitingRequests: 'number', requestProcessorsMax: 'number' },

  // `adaptive` and `mixed`.
  'adaptive-choice': {
    chosenCandidates: 'number',
    candidates: 'number',
    gapCandidates: 'number',
    endCandidates: 'number',
    tasksPerHour: 'number',
  },
  'adaptive-earliest-only': { requests: 'number', unplacedTasks: 'number' },
  'adaptive-chosen': {
    processors: 'number',
    walltimeMs: 'number',
    startMs: 'number',
    place: ['gap', 'end'],
    tasksPerHour: 'number',
  },
  'adaptive-kept': { rank: 'number', candidates: 'number' },
  'adaptive-exchanged': {
    processors: 'number',
    walltimeMs: 'number',
    startMs: 'number',
    place: ['gap', 'end'],
    tasksPerHour: 'number',
    tasksPerHourBefore: 'number',
    tasksPerHourAfter: 'number',
  },
  'adaptive-narrowed': {
    processorsBefore: 'number',
    processors: 'number',
    pendingTasks: 'number',
    concurrentTasks: 'number',
  },
  'mixed-largest-request': {},

  // `finish`.
  'finish-expected-end': {
    pendingTasks: 'number',
    /** Of the widest task on several machines; such tasks count once for each of their processors. */
    gangProcessors: 'number?',
    endMs: 'number',
    taskMs: 'number',
  },
  'finish-no-better-request': {},
  'finish-queue-stale': {},
  'finish-queue-hidden': {},
  'finish-no-backfill': {},
  'finish-last-request-unused': {},
  'finish-waits-for-similar-tasks': { waitMs: 'number' },
  'finish-earliest-completion': plannedRequest,
  'finish-replaced-by': plannedRequest,
  'finish-released-for-better': {},
  'finish-withdrawn-for-better': {},
  'finish-withdrawn-too-wide': { processors: 'number', pendingTasks: 'number' },
} as const satisfies ReasonTable;
