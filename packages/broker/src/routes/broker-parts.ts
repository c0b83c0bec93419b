import { MutiraoError } from '@mutirao/api/errors';
import type { ProviderQueue } from '@mutirao/api/provider';
import {
  findUserJob,
  type BrokerChange,
  type BrokerCommand,
  type BrokerInput,
  type BrokerJob,
  type BrokerState,
} from '@mutirao/core/machines/broker';
import type { Duration, JobId, ProcessorCount, ProviderId, UserId } from '@mutirao/core/shared';
import type { Clock, MachineDriver, Timers } from '@mutirao/runtime/driver';
import type { Room } from '@mutirao/runtime/files';
import type { Journal } from '@mutirao/runtime/journal';

import type { Blobs } from '../contents/blobs.ts';
import type { JobWatchers } from '../events/job-watchers.ts';
import type { JobSpecs } from '../journal/job-specs.ts';
import type { Records } from '../journal/records.ts';
import type { LiveOutputs } from '../live-output/live-outputs.ts';
import type { Checks } from '../results/checks.ts';
import type { HomeFiles } from '../staging/home-files.ts';
import type { TaskOutputs } from '../staging/task-outputs.ts';
import type { OtherJobsPlaces } from '../submission/other-jobs-places.ts';
import type { WorkFolderRules } from '../submission/place-in-folder.ts';

/** The driver of the broker's machine. */
export type BrokerDriver = MachineDriver<BrokerState, BrokerInput, BrokerChange, BrokerCommand>;

/** What the routes of the broker's service work with. */
export interface BrokerParts {
  readonly driver: Pick<BrokerDriver, 'state' | 'ask' | 'stalledBy'>;
  readonly room: Pick<Room, 'demand' | 'trouble'>;
  readonly journal: Pick<Journal<BrokerChange>, 'read' | 'lastSequence'>;
  readonly records: Records;
  readonly specs: JobSpecs;
  readonly blobs: Blobs;
  readonly watchers: JobWatchers;
  /** Names the journal, as `readInstance` does. */
  readonly journalInstance: string;
  readonly clock: Clock;
  readonly timers: Timers;
  /** Whose files the broker opens and whose checks it runs. */
  readonly ownerId: UserId;
  readonly homeFiles: Pick<HomeFiles, 'fingerprintOf'>;
  readonly checks: Pick<Checks, 'describe'>;
  readonly taskOutputs: Pick<TaskOutputs, 'lookAt'>;
  /** Asks machines for what tasks have written. */
  readonly liveOutputs: Pick<LiveOutputs, 'ask'>;
  /** Folders where no output may go. */
  readonly forbiddenFolders: readonly string[];
  readonly otherJobsPlaces: OtherJobsPlaces;
  /** What is asked of a folder of home that tasks start in. */
  readonly workFolderRules: WorkFolderRules;
  /** The most processors that one of a provider's requests may have; undefined where nobody can say. Never rejects. */
  machineProcessorsOf(providerId: ProviderId): Promise<ProcessorCount | undefined>;
  /** The queue that a provider last reported, and its age; rejects as the provider does. */
  findQueue(providerId: ProviderId): Promise<{ readonly queue: ProviderQueue; readonly age: Duration }>;
  /** Why the last try to reach a provider came to nothing; empty when it went well. */
  getTrouble(providerId: ProviderId): string;
}

/** The job of that number. @throws {MutiraoError} MUT_NOT_FOUND when this user has none. */
export function getJob(parts: Pick<BrokerParts, 'driver'>, userId: UserId, jobId: JobId): BrokerJob {
  const job = findUserJob(parts.driver.state, userId, jobId);
  if (job === undefined) throw new MutiraoError('MUT_NOT_FOUND', `there is no job ${jobId} of yours`);
  return job;
}

/** @throws {MutiraoError} MUT_NOT_OWNER unless the caller is the broker's own owner. */
export function requireOwner(parts: Pick<BrokerParts, 'ownerId'>, userId: UserId, what: string): void {
  if (userId !== parts.ownerId)
    throw new MutiraoError(
      'MUT_NOT_OWNER',
      `${what} is for ${parts.ownerId} alone, who owns this broker; you are ${userId}`,
    );
}
