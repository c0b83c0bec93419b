import type { WatchJobRequest, WatchJobResponse } from '@mutirao/api/broker';
import { badRequest } from '@mutirao/api/codecs';
import type { UserId } from '@mutirao/core/shared';
import { requirePosition } from '@mutirao/runtime/journal';
import { isBehind, type ServerStreamHandler, type StreamWriter, type WatchPlace } from '@mutirao/runtime/rpc';

import { getJob, type BrokerParts } from './broker-parts.ts';
import { addResults } from './task-results.ts';
import { watchSample } from './watch-sample.ts';
import { eventsFor, inMessages, isOver } from './watched-events.ts';

/** Changes read from the journal at a time: what a slow watcher costs in memory. */
const readMax = 200;
const taskIndexesMost = 1_000_000;
/** With what else an event has, it fits a message. */
const resultBytesMost = 1024 * 1024;

/**
 * Sends the events of one job, or of all of the user's jobs and the resources that they run on, from a sequence on, and
 * then each as it comes.
 *
 * Everything is read from the journal, also the newest events. A watcher that falls behind costs nothing but its
 * position, and one that returns with the position of its last message misses nothing and gets nothing again. The
 * events of a large change come in several messages, each of which any client takes. An empty message says, once, that
 * all earlier events have been sent. A watcher may ask for a sample of a few changes a second.
 */
export function watchJobRoute(parts: BrokerParts): ServerStreamHandler<WatchJobRequest, WatchJobResponse> {
  return async (request, writer, context) => {
    const { userId, signal, stopping } = context;
    if (request.jobId !== 0) getJob(parts, userId, request.jobId);
    requireIndexesMax(request);
    requireResultBytesMax(request);
    if (request.lastChanges === undefined) requirePosition(request, parts.journal, parts.journalInstance);
    let place = findBeginning(parts, request);
    if (request.changesPerSecondMax !== undefined)
      return watchSample(parts, request, { writer, after: place.afterSequence, context });
    let hasCaughtUp = false;
    for (;;) {
      if (isOver(context)) return;
      const last = await reportPage(parts, { ...request, ...place }, { userId, writer });
      if (last !== undefined) {
        place = { afterSequence: last, afterEventCount: undefined };
        continue;
      }
      const news = parts.watchers.next(request.jobId, [signal, stopping]);
      if (!hasCaughtUp)
        writer.write({ events: [], lastSequence: place.afterSequence, journalInstance: parts.journalInstance });
      hasCaughtUp = true;
      await news;
    }
  };
}

/** The position of the first event to send. */
function findBeginning(
  { journal }: BrokerParts,
  { afterSequence, afterEventCount, lastChanges }: WatchJobRequest,
): WatchPlace {
  if (lastChanges === undefined) return { afterSequence, afterEventCount };
  return { afterSequence: Math.max(0, journal.lastSequence() - lastChanges), afterEventCount: undefined };
}

/** @throws {MutiraoError} MUT_BAD_REQUEST */
function requireIndexesMax({ taskIndexesMax = 0 }: WatchJobRequest): void {
  if (taskIndexesMax > taskIndexesMost)
    throw badRequest(`task_indexes_max is ${taskIndexesMax}; expected an integer in 0..${taskIndexesMost}`);
}

/** @throws {MutiraoError} MUT_BAD_REQUEST */
function requireResultBytesMax({ resultBytesMax = 1 }: WatchJobRequest): void {
  if (resultBytesMax < 1 || resultBytesMax > resultBytesMost)
    throw badRequest(`result_bytes_max is ${resultBytesMax}; expected an integer in 1..${resultBytesMost}`);
}

interface Watcher {
  readonly userId: UserId;
  readonly writer: StreamWriter<WatchJobResponse>;
}

/**
 * Sends the events of one read of the journal and returns the last sequence that was read; undefined when there was
 * none.
 */
async function reportPage(
  parts: BrokerParts,
  { jobId, afterSequence, afterEventCount, taskIndexesMax, resultBytesMax }: WatchJobRequest,
  { userId, writer }: Watcher,
): Promise<number | undefined> {
  const entries = parts.journal.read({ after: afterSequence, limit: readMax, ...(jobId === 0 ? {} : { job: jobId }) });
  for (const entry of entries) {
    const events = eventsFor(parts, userId, { entry, taskIndexesMax }).filter((event) =>
      isBehind({ afterSequence, afterEventCount }, event),
    );
    if (resultBytesMax !== undefined) await addResults(parts, userId, events, resultBytesMax);
    for (const message of inMessages(events))
      if (!writer.write({ ...message, journalInstance: parts.journalInstance })) await writer.drained();
  }
  return entries.at(-1)?.sequence;
}
