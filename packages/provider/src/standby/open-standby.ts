import { statfsSync } from 'node:fs';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { encodeOutcome } from '@mutirao/api/codecs';
import {
  roomForReports,
  type BrokerId,
  type EnrolledMachine,
  type ProviderChange,
  type ProviderInput,
  type ProviderState,
} from '@mutirao/core/machines/provider';
import { noQuotaRules, type QuotaRules } from '@mutirao/core/quotas';
import type { Bytes, MachineId, UserId } from '@mutirao/core/shared';
import { steadyClock, systemClock, systemTimers } from '@mutirao/runtime/driver';
import type { Logger } from '@mutirao/runtime/log';
import type { SiteContents } from '../contents/site-contents.ts';
import type { TaskMeasure } from '../relay/measure.ts';
import { OutputSpool } from '../spool/output-spool.ts';
import { SpooledBodies } from '../spool/spooled-bodies.ts';
import { Standby } from './standby.ts';
import { LeaseStore } from './lease-store.ts';
import { SpoolQuota } from './spool-quota.ts';

/** What a provider's standby is made of. */
export interface StandbySetup {
  /** The provider's own. */
  readonly directory: string;
  readonly database: DatabaseSync;
  readonly state: ProviderState;
  readonly ownerId: UserId;
  /** Most bytes of outputs that are kept while their broker is away. */
  readonly spoolBytesMax: Bytes;
  /** What users may have kept here; no bounds when left out. */
  readonly quotas?: QuotaRules | undefined;
  readonly contents: SiteContents | undefined;
  readonly measure: TaskMeasure;
  readonly log: Logger;
  deliver(input: ProviderInput): void;
  /** Sends a message to a broker; nothing while it is away. */
  reportBroker(brokerId: BrokerId, message: Buffer): void;
}

/** Room that the spool leaves on the disk, for the journal. */
const reserveBytes: Bytes = 64 * 1024 * 1024;

/** The standby and what it keeps. */
export interface OpenedStandby {
  readonly standby: Standby;
  readonly outputs: OutputSpool;
  readonly bodies: SpooledBodies;
  readonly spoolQuota: SpoolQuota;
  /** Receives what is in the journal now. */
  receive(change: ProviderChange): void;
  /** Restores what was kept before this process started. */
  resume(): void;
}

/** Opens what is kept for brokers that are away; what the state does not know is forgotten. */
export function openStandby(setup: StandbySetup): OpenedStandby {
  const { database, directory, state, log, contents, measure, deliver, reportBroker, ownerId, spoolBytesMax } = setup;
  const bodies = new SpooledBodies(database);
  bodies.prune({
    isReport: ({ machineId, incarnation, sequence }) =>
      findKept(state, machineId, incarnation)?.reports.some((report) => report.sequence === sequence) === true,
    isLease: (brokerId, sequence) => state.brokers.get(brokerId)?.lease?.outline.sequence === sequence,
  });
  const outputs = new OutputSpool({
    folder: join(directory, 'spool'),
    database,
    bytesMax: spoolBytesMax,
    reserveBytes,
    freeBytes,
    clock: systemClock,
    log,
  });
  const spoolQuota = new SpoolQuota({ state, outputs, ownerId, quotas: setup.quotas ?? noQuotaRules });
  const leases = new LeaseStore({
    bodies,
    contents,
    clock: steadyClock,
    timers: systemTimers,
    log,
    deliver,
    report: reportBroker,
  });
  const standby = new Standby({
    bodies,
    outputs,
    leases,
    contents,
    timers: systemTimers,
    log,
    ownerId,
    deliver,
    roomForReports: () => roomForReports(state),
    quota: spoolQuota,
    brokerOf: (machineId) => state.machines.get(machineId)?.brokerId,
    hasKept: (brokerId, machineId) =>
      [...state.kept.values()].some((kept) => kept.brokerId === brokerId && kept.facts.machineId === machineId),
    onReport: ({ identity: { requestId, machineId } }, { ended, started }) => {
      if (requestId !== '') for (const { replicaId } of started) measure.noteStart(machineId, replicaId);
      for (const { replicaId, outcome, startedAt, endedAt } of ended) {
        measure.note(requestId, encodeOutcome(outcome), startedAt === 0 ? 0 : Math.max(0, endedAt - startedAt));
        if (requestId !== '') measure.noteEnd(machineId, replicaId);
      }
    },
  });
  return {
    standby,
    outputs,
    bodies,
    spoolQuota,
    receive: (change) => {
      onChange({ standby, log, state, spoolQuota }, change);
    },
    resume: () => {
      resumeLeases(standby, state);
    },
  };
}

function resumeLeases(standby: Standby, state: ProviderState): void {
  for (const { brokerId, lease } of state.brokers.values()) {
    if (lease !== undefined) standby.leases.resume(brokerId, lease.outline.sequence);
  }
}

function onChange(
  {
    standby,
    log,
    state,
    spoolQuota,
  }: {
    readonly standby: Standby;
    readonly log: Logger;
    readonly state: ProviderState;
    readonly spoolQuota: SpoolQuota;
  },
  change: ProviderChange,
): void {
  switch (change.kind) {
    case 'LeaseTaken':
      standby.leases.replace(change.brokerId, change.lease.sequence);
      break;
    case 'ReportSpooled':
      spoolQuota.noteReport(change.facts.machineId, change.bytes);
      break;
    case 'ReportsForgotten':
      spoolQuota.recountReports(change.machineId);
      standby.dropReports(change.machineId, change.incarnation, change.upTo);
      break;
    case 'BrokerReplaced':
      standby.forgetBroker(change.brokerId, state.brokers.get(change.brokerId)?.connectionId ?? 0);
      log.warn({ broker: change.brokerId }, 'a broker has a new journal; dropped what was stored for its former one');
      break;
    case 'StandbyBegan':
      log.info({ broker: change.brokerId }, 'a broker disconnected; starting its leased tasks');
      break;
    case 'StandbyEnded':
      log.info({ broker: change.brokerId }, 'a broker reconnected; delivering its stored results');
      break;
    default:
      break;
  }
}

function findKept(state: ProviderState, machineId: MachineId, incarnation: string): EnrolledMachine | undefined {
  return [...state.kept.values()].find(
    ({ facts }) => facts.machineId === machineId && facts.incarnation === incarnation,
  );
}

function freeBytes(folder: string): Bytes {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}
