import {
  brokerMachine,
  createBrokerState,
  restore,
  skipForgottenIds,
  snapshot,
  snapshotVersion,
  type BrokerChange,
  type BrokerOptions,
  type BrokerState,
} from '@mutirao/core/machines/broker';
import { findFreshNumber, type Journal } from '@mutirao/runtime/journal';

import { readInstance, type JournalInstance } from '../journal/journal-instance.ts';

/** A state from a journal, and how it came about. */
export interface RestoredState {
  readonly state: BrokerState;
  /** Sequence of the snapshot that it began with; 0 for none. */
  readonly snapshotAt: number;
  /** Changes that were applied after it. */
  readonly replayedCount: number;
  /** Identifies this journal among others of the same broker. */
  readonly instance: JournalInstance;
}

/** Restores the state of a journal: its latest snapshot that this release can read, and all changes since. */
export function restoreState(journal: Journal<BrokerChange>, options: Partial<BrokerOptions>): RestoredState {
  const found = journal.latestSnapshot();
  const latest = found !== undefined && findVersion(found.body) === snapshotVersion ? found : undefined;
  const state = latest === undefined ? createBrokerState(options) : restore(latest.body, options);
  const snapshotAt = latest?.sequence ?? 0;
  let replayedCount = 0;
  journal.replay(snapshotAt, (_sequence, change) => {
    brokerMachine.apply(state, change);
    replayedCount += 1;
  });
  state.nextJobId = findFreshNumber(journal, { name: 'next_job', next: state.nextJobId });
  if (journal.isHostNew) {
    skipForgottenIds(state);
    journal.writeSnapshot(journal.lastSequence(), snapshot(state));
  }
  const instance = readInstance(journal, state.nextJobId);
  journal.keepHost();
  return { state, snapshotAt, replayedCount, instance };
}

function findVersion(body: string): unknown {
  const saved: unknown = JSON.parse(body);
  return typeof saved === 'object' && saved !== null && 'version' in saved ? saved.version : undefined;
}
