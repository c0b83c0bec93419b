import {
  JobStatus,
  MachineStatus,
  type GetOverviewResponse,
  type JobSummary,
  type MachineRecord,
} from '@mutirao/api/broker';

import type { Summary, TaskCounts } from '../../schema/index.ts';
import { taskCounts, type Estimate } from './jobs.ts';

/** What the grid at a glance is made of. */
export interface SummarySources {
  readonly jobs: readonly JobSummary[];
  readonly estimates: ReadonlyMap<number, Estimate>;
  /** Those of them that no machine can take. */
  readonly blocked: ReadonlySet<number>;
  readonly overview: GetOverviewResponse;
  readonly finishedPerSecond: number;
  readonly providersAway: readonly string[];
  /** Whether there are older jobs than those. */
  readonly hasMoreJobs: boolean;
}

/** The grid at a glance; tasks are those of jobs that run. */
export function summaryDocument({
  jobs,
  estimates,
  blocked,
  overview,
  finishedPerSecond,
  providersAway,
  hasMoreJobs,
}: SummarySources): Summary {
  const running = jobs.filter(({ status }) => status === JobStatus.RUNNING);
  const going = running.filter(({ jobId }) => !blocked.has(jobId));
  const remaining = going.flatMap(({ jobId }) => estimates.get(jobId)?.remainingMsMax ?? []);
  return {
    jobs_running: running.length,
    jobs_blocked: running.length - going.length,
    jobs_ended: jobs.length - running.length,
    has_more_jobs: hasMoreJobs,
    tasks: running.map(taskCounts).reduce(addCounts, noTasks),
    finished_per_s: finishedPerSecond,
    machines: {
      idle: overview.idleMachineCount,
      busy: overview.busyMachineCount,
      draining: overview.drainingMachineCount,
      quarantined: overview.quarantinedMachineCount,
    },
    processors: overview.processors,
    replicas_running: overview.runningCount,
    providers_connected: overview.connectedProviderCount,
    provider_count: overview.providerCount,
    providers_away: providersAway.slice(0, 5),
    requests_queued: overview.queuedRequestCount,
    requests_running: overview.runningRequestCount,
    remaining_ms_max: remaining.length === 0 ? null : Math.max(...remaining),
    remaining_unknown_count: going.length - remaining.length,
    trouble: overview.trouble ?? '',
  };
}

const noTasks: TaskCounts = { waiting: 0, ready: 0, running: 0, verifying: 0, finished: 0, failed: 0, cancelled: 0 };

function addCounts(one: TaskCounts, other: TaskCounts): TaskCounts {
  return {
    waiting: one.waiting + other.waiting,
    ready: one.ready + other.ready,
    running: one.running + other.running,
    verifying: one.verifying + other.verifying,
    finished: one.finished + other.finished,
    failed: one.failed + other.failed,
    cancelled: one.cancelled + other.cancelled,
  };
}

/** Machines by status. */
export function machineCounts(machines: readonly Pick<MachineRecord, 'status'>[]): Summary['machines'] {
  const count = (wanted: MachineStatus): number => machines.filter(({ status }) => status === wanted).length;
  return {
    idle: count(MachineStatus.IDLE),
    busy: count(MachineStatus.BUSY),
    draining: count(MachineStatus.DRAINING),
    quarantined: count(MachineStatus.QUARANTINED),
  };
}
