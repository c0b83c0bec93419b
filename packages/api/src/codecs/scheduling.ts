import { sayReason } from '../reasons/say-reason.ts';
import { readSiteSelection } from '@mutirao/core/site-selection';
import type { JobSpec, ReplicationCap, SchedulerName } from '@mutirao/core/messages';

import {
  Scheduler,
  type JobSpec as JobSpecWire,
  type ReplicationCap as ReplicationCapWire,
} from '../generated/mutirao/broker/v1/broker.ts';
import { badRequest } from './common.ts';

const schedulers: Readonly<Record<SchedulerName, Scheduler>> = {
  wqr: Scheduler.WQR,
  workqueue: Scheduler.WORKQUEUE,
  'storage-affinity': Scheduler.STORAGE_AFFINITY,
  sufferage: Scheduler.SUFFERAGE,
  'min-min': Scheduler.MIN_MIN,
  plan: Scheduler.PLAN,
};

/** Most that losers may cost, in per cent of what accepted replicas used. */
export const replicationBudgetPercentMax = 1000;

/** Reads how a job is scheduled. @throws {MutiraoError} MUT_BAD_REQUEST with the value found and the value wanted. */
export function decodeScheduling(
  wire: JobSpecWire,
): Required<Pick<JobSpec, 'scheduler' | 'replicationCap'>> & Pick<JobSpec, 'siteSelection'> {
  return {
    scheduler: decodeScheduler(wire.scheduler),
    replicationCap: decodeCap(wire.replicationCap),
    ...decodeSiteSelection(wire.siteSelection),
  };
}

/** Writes how a job is scheduled for the wire; what is left out stays so. */
export function encodeScheduling({
  scheduler,
  replicationCap,
  siteSelection,
}: JobSpec): Pick<JobSpecWire, 'scheduler' | 'replicationCap' | 'siteSelection'> {
  return {
    scheduler: scheduler === undefined ? undefined : schedulers[scheduler],
    replicationCap: replicationCap === undefined ? undefined : encodeCap(replicationCap),
    siteSelection,
  };
}

function decodeScheduler(wire: Scheduler | undefined): SchedulerName {
  if (wire === undefined || wire === Scheduler.UNSPECIFIED) return 'wqr';
  for (const [name, value] of Object.entries(schedulers)) if (value === wire) return name as SchedulerName;
  throw badRequest(`job.scheduler is ${String(wire)}; expected one of ${Object.keys(schedulers).join(', ')}`);
}

/** Empty is as absent. */
function decodeSiteSelection(wire: string | undefined): Pick<JobSpec, 'siteSelection'> {
  if (wire === undefined || wire === '') return {};
  const read = readSiteSelection(wire);
  if (typeof read === 'object' && 'fault' in read) throw badRequest(`job.site_selection ${sayReason(read.fault)}`);
  return { siteSelection: wire };
}

function decodeCap(wire: ReplicationCapWire | undefined): ReplicationCap {
  const cap = wire?.cap;
  if (cap === undefined) return { kind: 'none' };
  if (cap.$case === 'idle') return { kind: 'idle' };
  if (cap.value > replicationBudgetPercentMax)
    throw badRequest(
      `job.replication_cap.replication_budget_percent is ${cap.value}; expected an integer in ` +
        `0..${replicationBudgetPercentMax}`,
    );
  return { kind: 'share', percent: cap.value };
}

function encodeCap(cap: ReplicationCap): ReplicationCapWire {
  switch (cap.kind) {
    case 'none':
      return { cap: undefined };
    case 'idle':
      return { cap: { $case: 'idle', value: {} } };
    case 'share':
      return { cap: { $case: 'replicationBudgetPercent', value: cap.percent } };
  }
}
