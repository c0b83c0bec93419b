import { JobEvent } from '@mutirao/api/broker';
import { encodeJobEvent } from '@mutirao/api/codecs';
import { MutiraoError } from '@mutirao/api/errors';
import { listEvents, type BrokerChange } from '@mutirao/core/machines/broker';
import type { UserId } from '@mutirao/core/shared';
import type { JournalEntry } from '@mutirao/runtime/journal';
import { partsOfEvents, type CallContext, type WatchedEvent, type WatchedPart } from '@mutirao/runtime/rpc';

import type { BrokerDriver, BrokerParts } from './broker-parts.ts';

/** What watching needs of the broker. */
export type WatchParts = Pick<BrokerParts, 'journal' | 'journalInstance' | 'watchers' | 'timers'> & {
  readonly driver: Pick<BrokerDriver, 'state'>;
};

/** Task indexes of an event that are sent if a watcher names no limit: they take 2 MB at most. */
export const taskIndexesUsual = 400_000;

/**
 * The events of a change that a user may see: those of the user's jobs, and of what jobs run on.
 *
 * @param taskIndexesMax most task indexes of an event; default `taskIndexesUsual`.
 */
export function eventsFor(
  { driver }: Pick<WatchParts, 'driver'>,
  userId: UserId,
  {
    entry,
    taskIndexesMax = taskIndexesUsual,
  }: { readonly entry: JournalEntry<BrokerChange>; readonly taskIndexesMax: number | undefined },
): WatchedEvent<JobEvent>[] {
  const { sequence, at, change } = entry;
  return listEvents(change).flatMap((event, index) => {
    if (event.jobId !== 0 && driver.state.jobs.get(event.jobId)?.userId !== userId) return [];
    return [{ event: encodeJobEvent(sequence, at, event, taskIndexesMax), sequence, number: index + 1 }];
  });
}

/** Splits events into messages that any client takes. */
export function inMessages(watched: readonly WatchedEvent<JobEvent>[]): Generator<WatchedPart<JobEvent>> {
  return partsOfEvents(watched, (event) => JobEvent.encode(event).finish().length);
}

/** Whether a watcher has left. @throws {MutiraoError} MUT_STOPPING, so that it knows to come again. */
export function isOver({ signal, stopping }: CallContext): boolean {
  if (signal.aborted) return true;
  if (stopping.aborted)
    throw new MutiraoError(
      'MUT_STOPPING',
      'the broker is stopping; watch again from the last sequence when it is back',
    );
  return false;
}
