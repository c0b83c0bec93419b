import type { Example, OptionGroup } from '@mutirao/runtime/program';

/** The options of the provider by subject, for --help. */
export const optionGroups = [
  { heading: 'Common options', names: ['id', 'listen', 'manager', 'heuristic', 'user'] },
  { heading: 'Embedded cluster', names: ['cluster', 'clusterHome'] },
  { heading: 'Slurm', names: ['slurmPartition', 'slurmAccount', 'slurmQos', 'slurmFlags', 'agents'] },
  { heading: 'Grid Engine and OAR', names: ['gridEngineQueue', 'gridEnginePe', 'gridEngineFlags', 'oarFlags'] },
  { heading: 'Resource manager', names: ['managerFile', 'queueInterval', 'managerDeadline'] },
  {
    heading: 'Size and number of requests',
    names: [
      'requestsMax',
      'widthMax',
      'walltimeMax',
      'defaultTaskTime',
      'firstRequestWalltime',
      'firstRequestsMax',
      'idleRelease',
      'submissionsPerHour',
      'withdrawalsPerHour',
      'refusalPause',
      'refusalPauseMax',
      'refusalsMax',
      'releaseOnStop',
    ],
  },
  { heading: 'Reservations', names: ['reservations', 'reservationResource', 'preAcquire'] },
  {
    heading: 'Agents',
    names: [
      'listenAgents',
      'advertise',
      'agentCommand',
      'agentHome',
      'isolation',
      'agentGrace',
      'agentOrphanTimeout',
      'inputCacheSize',
    ],
  },
  { heading: 'Absent brokers', names: ['brokerGrace', 'standbyAfter', 'spoolBytes'] },
  { heading: 'Quotas, metrics and traces', names: ['quota', 'metricsListen', 'trace'] },
] as const satisfies readonly OptionGroup[];

/** Commands for --help. */
export const examples: readonly Example[] = [
  {
    command: 'mutirao run provider --id uni --manager slurm',
    effect: 'obtain machines from Slurm, on a host where sbatch works',
  },
  { command: 'mutirao run provider --id lab --manager none --listen 0.0.0.0:7001', effect: 'let lab machines join' },
];
