import type { ReasonTable } from './parameters.ts';

/** What a task asks for, of counted resources as `NAME=AMOUNT`. */
const ofRequest = {
  processors: 'number',
  memoryBytes: 'number',
  gpuThousandths: 'number',
  gpuKind: 'text',
  resources: 'texts',
} as const;

/** A broker's explanation of one task. */
export const taskReasons = {
  'task-ready': { jobId: 'number', taskIndex: 'number' },
  'task-unmet': {
    jobId: 'number',
    taskIndex: 'number',
    unfinishedTasks: 'number',
    /** The first of them. */
    taskIndexes: 'texts',
  },
  'task-held': { jobId: 'number', taskIndex: 'number' },
  'task-gated': { jobId: 'number', taskIndex: 'number' },
  'task-before': {
    taskIndex: 'number',
    status: ['waiting', 'ready', 'running', 'verifying', 'finished', 'failed', 'cancelled', 'gone'],
  },
  'further-tasks': { tasks: 'number' },
  'task-running': { jobId: 'number', taskIndex: 'number', machineIds: 'texts' },
  'replica-running': { replicaId: 'number', machineId: 'text', forMs: 'number' },
  'replica-dispatched': { replicaId: 'number', machineId: 'text', agoMs: 'number' },
  'gang-running': {
    jobId: 'number',
    taskIndex: 'number',
    processors: 'number',
    machines: 'number',
    /** Processors at each machine, as `lab/m1=2`. */
    processorsByMachine: 'texts',
  },
  'gang-starting': {
    jobId: 'number',
    taskIndex: 'number',
    processors: 'number',
    machines: 'number',
    readyMachines: 'number',
    forMs: 'number',
    processorsByMachine: 'texts',
  },
  'replica-rest': { machineId: 'text', expectedMs: 'number', mostMs: 'number' },
  'task-verifying': { jobId: 'number', taskIndex: 'number', machineId: 'text' },
  'task-finished': {
    jobId: 'number',
    taskIndex: 'number',
    /** Left out, as `tookMs`, where its records are gone. */
    machineId: 'text?',
    tookMs: 'number?',
  },
  'task-reused': { jobId: 'number', taskIndex: 'number', fromJobId: 'number', fromTaskIndex: 'number' },
  'task-failed': { jobId: 'number', taskIndex: 'number' },
  'task-cancelled': { jobId: 'number', taskIndex: 'number', cause: 'cause' },
  'task-cancelling': { jobId: 'number', taskIndex: 'number', machineIds: 'texts' },
  'replica-end-awaited': { replicaId: 'number', machineId: 'text', leftMs: 'number' },
  'task-behind-cancelled': { jobId: 'number', taskIndex: 'number', cancelledTaskIndex: 'number' },
  'task-blocked': { jobId: 'number', taskIndex: 'number', failedTaskIndex: 'number' },
  'replicas-withdrawn': { replicas: 'number' },
  'replica-ended': {
    replicaId: 'number',
    machineId: 'text',
    disposition: ['accepted', 'surplus', 'outvoted', 'failed', 'lost', 'withdrawn', 'cancelled', 'served'],
    /** Left out where its end has no exit status of its own. */
    exitStatus: 'number?',
    /** A code of errors, or empty. */
    endCode: 'text',
    cause: 'cause',
  },
  'records-gone': {},

  // What has gone wrong so far.
  'task-alternative-waits': { alternative: 'number', ...ofRequest, cause: 'cause' },
  'task-uses-alternative': { alternative: 'number', ...ofRequest },
  'task-given-memory': { retries: 'number', memoryBytes: 'number' },
  'task-failures': { failures: 'number', failuresMax: 'number' },
  'task-losses': { losses: 'number', lossesMax: 'number' },
  'task-losses-unjudged': { losses: 'number' },
  'task-stops': { stops: 'number', stopsMax: 'number' },
  'task-avoids-machine': { machineId: 'text', leftMs: 'number' },

  // Where it was placed or planned.
  'task-assigned': { providerId: 'text', agoMs: 'number', cause: 'cause' },
  'task-start-expected': { startMs: 'number' },
  'task-start-late': { lateMs: 'number' },
  'task-planned': {
    machineId: 'text',
    rule: ['earliest-finish', 'inserted', 'critical-path', 'capacity', 'exchanged', 'first-free', 'fixed'],
    startMs: 'number',
    endMs: 'number',
    startsAfter: ['nothing', 'machine', 'task', 'data'],
    /** The task that it starts after. */
    afterJobId: 'number?',
    afterTaskIndex: 'number?',
    /** The best other machine, and when it would end there. */
    otherMachineId: 'text?',
    otherEndMs: 'number?',
  },
  'plan-made': { agoMs: 'number', scheduler: 'text' },
  'plan-no-machine': {},
  'plan-later': {},

  /** Of a workflow that is scheduled and not run; times count from its start. */
  'task-scheduled': {
    taskId: 'text',
    processorNames: 'texts',
    startMs: 'number',
    endMs: 'number',
    rule: ['earliest-finish', 'inserted', 'critical-path', 'capacity', 'exchanged', 'first-free', 'fixed'],
    /** What kept it from starting earlier there. */
    heldBy: ['arrival', 'processor', 'data'],
    /** The task that it starts after. */
    behindTaskId: 'text?',
    /** The best other processor, and when it would end there. */
    otherProcessorName: 'text?',
    otherEndMs: 'number?',
  },

  // Why a plan was made again.
  'plan-first': {},
  'plan-clock-set': {},
  'plan-machines-changed': {},
  'plan-times-learnt': { jobId: 'number' },
  'plan-used-up': {},
  'plan-job-arrived': { jobId: 'number' },
  'plan-job-cancelled': { jobId: 'number' },
  'plan-tasks-cancelled': { jobId: 'number' },
  'plan-tasks-held': { jobId: 'number' },
  'plan-job-updated': { jobId: 'number' },
  'plan-tasks-retried': { jobId: 'number' },
  'plan-tasks-appended': { jobId: 'number' },
  'plan-results-doubted': { jobId: 'number' },
  'plan-task-ended-badly': {
    jobId: 'number',
    taskIndex: 'number',
    disposition: ['accepted', 'surplus', 'outvoted', 'failed', 'lost', 'withdrawn', 'cancelled', 'served'],
  },
  'plan-task-ended-early': { jobId: 'number', taskIndex: 'number' },
  'plan-task-ended-late': { jobId: 'number', taskIndex: 'number' },
  'plan-task-late': { jobId: 'number', taskIndex: 'number' },

  // Votes on results.
  'votes-decided': { jobId: 'number', taskIndex: 'number', results: 'number', machineId: 'text?' },
  'votes-deadlocked': { jobId: 'number', taskIndex: 'number', results: 'number' },
  'votes-missing': {
    jobId: 'number',
    taskIndex: 'number',
    results: 'number',
    votesMissing: 'number',
    rule: ['credibility', 'vote'],
    threshold: 'number',
  },
  'vote-result': {
    digest: 'text',
    /** With the credibility of each, as `lab/m1=0.95`. */
    credibilityByMachine: 'texts',
    furtherMachines: 'number',
  },
  'votes-running': { machineIds: 'texts' },
  'votes-need-machine': {},
  'votes-runs-missing': { runs: 'number', machines: 'number' },
} as const satisfies ReasonTable;
