import type { WatchJobRequest, WatchJobResponse } from '@mutirao/api/broker';
import { badRequest } from '@mutirao/api/codecs';
import type { UserId } from '@mutirao/core/shared';
import { requirePosition } from '@mutirao/runtime/journal';
import type { ServerStreamHandler, StreamWriter } from '@mutirao/runtime/rpc';

import { getJob, type BrokerParts } from './broker-parts.ts';
import { watchSample } from './watch-sample.ts';
import { eventsFor, isOver } from './watched-events.ts';

/** Changes read from the journal at a time: what a slow watcher costs in memory. */
const readMax = 200;
const taskIndexesMost = 1_000_000;

/**
 * Tells the events of one job, or of all of the user's and of what they run on, from a sequence on, and then each as it
 * comes.
 *
 * Everything is read from the journal, also what has just happened: a watcher that falls behind costs nothing but its
 * place,
 * and one that comes back with the last sequence it saw misses nothing. All events of one change travel in one message;
 * an
 * empty one says, once, that all that had happened before has been told. Who wants some changes a second only is told a
 * sample.
 */
export function watchJobRoute(parts: BrokerParts): ServerStreamHandler<WatchJobRequest, WatchJobResponse> {
  return async (request, writer, context) => {
    const { userId, signal, stopping } = context;
    if (request.jobId !== 0) getJob(parts, userId, request.jobId);
    requireIndexesMax(request);
    if (request.lastChanges === undefined) requirePosition(request, parts.journal, parts.journalInstance);
    let after = findBeginning(parts, request);
    if (request.changesPerSecondMax !== undefined) return watchSample(parts, request, { writer, after, context });
    let hasCaughtUp = false;
    for (;;) {
      if (isOver(context)) return;
      const last = await reportPage(parts, { ...request, afterSequence: after }, { userId, writer });
      if (last !== undefined) {
        after = last;
        continue;
      }
      const news = parts.watchers.next(request.jobId, [signal, stopping]);
      if (!hasCaughtUp) writer.write({ events: [], journalInstance: parts.journalInstance });
      hasCaughtUp = true;
      await news;
    }
  };
}

/** The sequence behind which the telling begins. */
function findBeginning({ journal }: BrokerParts, { afterSequence, lastChanges }: WatchJobRequest): number {
  return lastChanges === undefined ? afterSequence : Math.max(0, journal.lastSequence() - lastChanges);
}

/** @throws {MutiraoError} MUT_BAD_REQUEST */
function requireIndexesMax({ taskIndexesMax = 0 }: WatchJobRequest): void {
  if (taskIndexesMax > taskIndexesMost)
    throw badRequest(`task_indexes_max is ${taskIndexesMax}; expected an integer in 0..${taskIndexesMost}`);
}

interface Watcher {
  readonly userId: UserId;
  readonly writer: StreamWriter<WatchJobResponse>;
}

/**
 * Tells what one read of the journal brings and returns the last sequence that was read; undefined when there was none.
 */
async function reportPage(
  parts: BrokerParts,
  { jobId, afterSequence, taskIndexesMax }: WatchJobRequest,
  { userId, writer }: Watcher,
): Promise<number | undefined> {
  const entries = parts.journal.read({ after: afterSequence, limit: readMax, ...(jobId === 0 ? {} : { job: jobId }) });
  for (const entry of entries) {
    const events = eventsFor(parts, userId, { entry, taskIndexesMax });
    if (events.length > 0 && !writer.write({ events, journalInstance: parts.journalInstance })) await writer.drained();
  }
  return entries.at(-1)?.sequence;
}
