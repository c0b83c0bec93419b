import type { JobSpec } from '@mutirao/core/messages';

/**
 * What a job gets where its user says nothing: one processor per task, two replicas at most and wherever a processor
 * idles, three failures, no limits.
 */
export const jobDefaults = {
  label: '',
  environment: {},
  limits: { runTimeMax: 0, memoryMax: 0, outputMax: 0 },
  processors: 1,
  replicasMax: 2,
  failuresMax: 3,
  deadline: undefined,
  scheduler: 'wqr',
  replicationCap: { kind: 'none' },
} as const satisfies Omit<JobSpec, 'groups' | 'homeDirectory'>;
