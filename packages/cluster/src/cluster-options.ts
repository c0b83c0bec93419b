import type { ClusterOptions } from '@mutirao/core/machines/cluster';
import {
  conservativeBackfilling,
  easyBackfilling,
  firstComeFirstServed,
  shapeNodes,
  usualLeadMax,
  type BucOrder,
  type ClusterNode,
  type Compression,
  type QueuePolicy,
} from '@mutirao/core/queue';
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
  /** What the queue orders requests by: arrival, or how well users estimate (BUC). */
  readonly order: 'arrival' | 'buc';
  /** What scores and walltimes weigh against waiting, in seconds. */
  readonly bucWeight: number;
  /** By how much later a request may come and still go before another one; 0 for 100 times the weight. */
  readonly bucLeadMax: Duration;
  /** Nodes with capacities; left out for a cluster that gives processors and nothing else. */
  readonly clusterNodes?: readonly ClusterNode[];
}

/** Ended requests that a cluster remembers. */
const endedMax = 1000;

/** Makes the machine's options. */
export function readClusterOptions(config: ClusterConfig): ClusterOptions {
  const { processors, clusterNodes, requestsMax, walltimeMax, walltimeGranularity, policy, variant } = config;
  const widthMax = config.widthMax === 0 ? processors : Math.min(config.widthMax, processors);
  return {
    processors,
    requestsMax,
    walltimeMax,
    walltimeGranularity,
    widthMax,
    endedMax,
    policy: choosePolicy(policy, variant),
    ...orderOf(config),
    ...(clusterNodes === undefined ? {} : { clusterNodes, nodes: shapeNodes(clusterNodes) }),
  };
}

function orderOf({ order, bucWeight: weight, bucLeadMax }: ClusterConfig): { readonly order?: BucOrder } {
  if (order === 'arrival') return {};
  return { order: { weight, leadMax: bucLeadMax === 0 ? usualLeadMax(weight) : bucLeadMax } };
}

function choosePolicy(policy: ClusterConfig['policy'], variant: Compression): QueuePolicy {
  switch (policy) {
    case 'conservative':
      return conservativeBackfilling(variant);
    case 'easy':
      return easyBackfilling;
    case 'fcfs':
      return firstComeFirstServed;
  }
}
