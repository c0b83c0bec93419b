import type { ReplicationCap, SchedulerName } from '@mutirao/core/messages';
import type { Bytes, Duration } from '@mutirao/core/shared';

/** Machines that come and go, and a job for them. */
export interface BagSetup {
  /** The same seed, the same machines, the same rng of each, and the same tasks, whatever schedules them. */
  readonly seed: string;
  readonly machineCount: number;
  /** Of a machine: uniform from 1 to this; 1 makes them equal. */
  readonly speedMax: number;
  /** How long machines stay up: Weibull. */
  readonly upTime: { readonly mean: Duration; readonly shape: number };
  /** How long they stay away: exponential. */
  readonly downTimeMean: Duration;
  readonly taskCount: number;
  /** On a machine of speed 1. */
  readonly taskTimeMean: Duration;
  /** Of the tasks' times around their mean: uniform from 1 - spread to 1 + spread. */
  readonly taskTimeSpread: number;
  readonly data?: DataSetup;
}

/** Files that tasks read; each task reads one. */
export interface DataSetup {
  readonly fileCount: number;
  readonly fileSize: Bytes;
  /** From home to one machine. */
  readonly bytesPerSecond: number;
}

/** The scheduler, and what it may cost. */
export interface BagPolicy {
  readonly scheduler: SchedulerName;
  /** Most replicas of one task at once. */
  readonly replicasMax: number;
  readonly replicationCap: ReplicationCap;
}

/** What came of a bag. Processor-time in milliseconds. */
export interface BagResult {
  /** From the submission to the last task's end. */
  readonly makespan: Duration;
  readonly used: Duration;
  /** Of replicas that a sibling beat or that the cap ended. */
  readonly losers: Duration;
  /** Of replicas whose machine left. */
  readonly killed: Duration;
  readonly replicaCount: number;
  /** Files that were brought to a machine. */
  readonly transferCount: number;
}
