import type { ReasonTable } from './parameters.ts';

const named = ['memory', 'gpus', 'named'] as const;

/**
 * Why a replica ended, a machine is distrusted, or something was cancelled: a part of a sentence, which other reasons
 * carry as their `cause`.
 */
export const causeReasons = {
  // As an agent judges a replica.
  'cancelled-on-request': {},
  'agent-takes-no-replicas': {},
  'agent-processors-exceeded': { requestedProcessors: 'number', processors: 'number' },
  /** Bytes, thousandths of a GPU, or units of the named resource. */
  'agent-resource-exceeded': {
    resource: named,
    resourceName: 'text',
    requestedAmount: 'number',
    totalAmount: 'number',
  },
  'run-time-exceeded': { ranMs: 'number', runTimeMsMax: 'number' },
  'inputs-above-storage': { inputBytes: 'number', storageBytesMax: 'number' },
  'output-limit-exceeded': { outputBytes: 'number', outputBytesMax: 'number' },
  'command-not-executable': {},
  'command-not-found': {
    /** Where the task works; left out for a folder of its own. */
    workFolder: 'text?',
  },
  'ended-by-signal': { signalNumber: 'number' },
  /** Ended by SIGKILL while the kernel killed a process of the machine for lack of memory; left out where not measured. */
  'memory-ran-out': { memoryPeakBytes: 'number?' },
  /** A shell of the task could not fork, and the task had few processes itself. */
  'no-further-process': {},
  'exit-status': { exitStatus: 'number' },
  /** A shell gives the same status for a command that a signal ended. */
  'exit-status-of-signal': { exitStatus: 'number', signalNumber: 'number' },

  // As a broker judges a replica, and the result of a task.
  'last-loss': { endCode: 'text', cause: 'cause' },
  'allocation-too-short': { ranMs: 'number', walltimeMsMax: 'number', providerId: 'text' },
  'votes-runs-failed': { failures: 'number', losses: 'number' },
  'votes-below-threshold': { results: 'number', threshold: 'number' },
  'votes-disagree': { results: 'number' },
  'provider-draining-gang': {},
  'provider-releases-all': {},
  'gang-members-not-ready': { machineIds: 'texts' },
  'gang-member-ended': { machineId: 'text', endCode: 'text', cause: 'cause' },

  // As a broker cancels what cannot start, or not in time.
  'dependency-never-met': {
    awaitedId: 'number',
    condition: ['started', 'ended', 'succeeded', 'failed', 'each'],
    status: ['running', 'finished', 'failed', 'cancelled'],
  },
  'job-expired': { expireUnixMs: 'number' },

  // What speaks against a machine.
  'outvoted-with-certainty': { probability: 'number' },
  'replica-misreported': { replicaId: 'number', cause: 'cause' },
  'output-not-requested': { outputIndex: 'number', requestedOutputs: 'number' },
  'output-file-not-alone': { outputIndex: 'number' },
  'output-path-twice': { outputIndex: 'number', path: 'text' },
  'machine-evidence': { evidence: ['outvoted', 'mismatch', 'word', 'attribute', 'report'], cause: 'cause' },

  // Why a task is assigned to a resource.
  'site-chosen': {
    strategy: 'text',
    admissibility: 'number',
    /** The least values that the strategy gives to admissible resources, as `large=0.5`; none where one is left. */
    comparedSites: 'texts',
    furtherSites: 'number',
    /** Of admissible resources: queues that are known too little for another strategy. */
    unknownSites: 'texts',
    staleSites: 'texts',
    /** Larger ones, which are left to wider tasks. */
    skippedSites: 'texts',
    furtherSkippedSites: 'number',
    /** Where it was assigned before, and why it cannot stay. */
    formerProviderId: 'text?',
    moved: ['no', 'away', 'draining', 'unsuitable'],
  },
  'site-left': { formerProviderId: 'text', moved: ['no', 'away', 'draining', 'unsuitable'] },
  'site-starts-sooner': { waitMs: 'number', formerProviderId: 'text', lateMs: 'number' },

  // Why jobs were cancelled by their broker.
  'failed-tasks-reached': { failedTasks: 'number' },
} as const satisfies ReasonTable;
