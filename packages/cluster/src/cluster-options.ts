import type { ClusterOptions } from '@mutirao/core/machines/cluster';
import { conservativeBackfilling, easyBackfilling, firstComeFirstServed, type Compression, type QueuePolicy } from '@mutirao/core/queue';
import type { Duration, ProcessorCount } from '@mutirao/core/shared';

/** The cluster as its configuration states it; numbers are 1 or more unless said otherwise. */
export interface ClusterConfig {
  readonly processors: ProcessorCount;
  /** Requests of one user, queued and running together. */
  readonly requestsMax: number;
  readonly walltimeMax: Duration;
  /** Walltimes are rounded up to a multiple of it. */
  readonly walltimeGranularity: Duration;
  /** 0 for all processors. */
  readonly widthMax: ProcessorCount;
  readonly policy: 'conservative' | 'easy' | 'fcfs';
  /** Of conservative backfilling. */
  readonly variant: Compression;
}

/** Ended requests that a cluster remembers. */
const endedMax = 1000;

/** Makes the machine's options. */
export function readClusterOptions(config: ClusterConfig): ClusterOptions {
  const { processors, requestsMax, walltimeMax, walltimeGranularity, policy, variant } = config;
  const widthMax = config.widthMax === 0 ? processors : Math.min(config.widthMax, processors);
  return { processors, requestsMax, walltimeMax, walltimeGranularity, widthMax, endedMax, policy: choosePolicy(policy, variant) };
}

function choosePolicy(policy: ClusterConfig['policy'], variant: Compression): QueuePolicy {
  switch (policy) {
    case 'conservative': return conservativeBackfilling(variant);
    case 'easy': return easyBackfilling;
    case 'fcfs': return firstComeFirstServed;
  }
}
