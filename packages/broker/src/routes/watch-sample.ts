import type { WatchJobRequest, WatchJobResponse } from '@mutirao/api/broker';
import { badRequest } from '@mutirao/api/codecs';
import type { UserId } from '@mutirao/core/shared';
import type { CallContext, StreamWriter } from '@mutirao/runtime/rpc';

import { eventsFor, inMessages, isOver, type WatchParts } from './watched-events.ts';

/** The journal is looked at so often in a second at most. */
const looksPerSecond = 4;
const changesPerSecondMost = 1000;
/** Changes that the first look goes back at most, whatever is asked. */
const firstChangesMost = 1000;

/** How a sample is taken. */
interface SampleRules {
  /** Changes of one look at most. */
  readonly changesMax: number;
  /** Milliseconds between two looks at least. */
  readonly period: number;
}

/**
 * Sends the newest events, up to a number of changes a second, and how many changes it skipped: the cost does not grow
 * with the number of events.
 *
 * The first look may go back by `lastChanges`; an empty message follows it.
 *
 * @throws {MutiraoError} MUT_BAD_REQUEST; MUT_STOPPING, so that the watcher knows to come again.
 */
export async function watchSample(
  parts: WatchParts,
  request: WatchJobRequest,
  {
    writer,
    after: begin,
    context,
  }: { readonly writer: StreamWriter<WatchJobResponse>; readonly after: number; readonly context: CallContext },
): Promise<void> {
  const { changesMax, period } = readRules(request);
  const { journal, watchers } = parts;
  const signals = [context.signal, context.stopping];
  let after = begin;
  let hasCaughtUp = false;
  for (
    let most = Math.max(changesMax, Math.min(request.lastChanges ?? 0, firstChangesMost));
    !isOver(context);
    most = changesMax
  ) {
    const { messages, last } = lookAtNewest(parts, request, { after, most, userId: context.userId });
    for (const message of messages)
      if (!writer.write({ ...message, journalInstance: parts.journalInstance })) await writer.drained();
    if (!hasCaughtUp) writer.write({ events: [], lastSequence: last, journalInstance: parts.journalInstance });
    hasCaughtUp = true;
    after = last;
    await rest(parts, period, signals);
    if (journal.lastSequence() <= after) await watchers.next(0, signals);
  }
}

interface Look {
  readonly after: number;
  /** Changes at most. */
  readonly most: number;
  readonly userId: UserId;
}

/** The newest changes, in messages that any client takes, and the last one that was looked at. */
function lookAtNewest(
  parts: WatchParts,
  { taskIndexesMax }: WatchJobRequest,
  { after, most, userId }: Look,
): { readonly messages: WatchJobResponse[]; readonly last: number } {
  const from = Math.max(after, parts.journal.lastSequence() - most);
  const entries = parts.journal.read({ after: from, limit: most });
  const reported = entries.flatMap((entry) => eventsFor(parts, userId, { entry, taskIndexesMax }));
  const last = entries.at(-1)?.sequence ?? from;
  const passedOver = from > after ? { skippedCount: from - after } : {};
  const [first, ...others] = inMessages(reported);
  const messages =
    first === undefined && from === after
      ? []
      : [{ ...(first ?? { events: [], lastSequence: last }), ...passedOver }, ...others];
  return { messages, last };
}

/** @throws {MutiraoError} MUT_BAD_REQUEST */
function readRules({ jobId, changesPerSecondMax = 0 }: WatchJobRequest): SampleRules {
  if (jobId !== 0) throw badRequest('changes_per_second_max is only for all jobs; expected job_id 0 with it');
  if (!Number.isInteger(changesPerSecondMax) || changesPerSecondMax < 1 || changesPerSecondMax > changesPerSecondMost) {
    throw badRequest(
      `changes_per_second_max is ${changesPerSecondMax}; expected an integer in 1..${changesPerSecondMost}`,
    );
  }
  const changesMax = Math.ceil(changesPerSecondMax / looksPerSecond);
  return { changesMax, period: Math.ceil((1000 * changesMax) / changesPerSecondMax) };
}

/** Resolves after a while, or when one of `signals` is aborted. */
async function rest({ timers }: WatchParts, milliseconds: number, signals: readonly AbortSignal[]): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const wake = (): void => {
    resolve();
  };
  const timer = timers.start(milliseconds, wake);
  for (const signal of signals) signal.addEventListener('abort', wake);
  if (signals.some((signal) => signal.aborted)) wake();
  await promise;
  for (const signal of signals) signal.removeEventListener('abort', wake);
  timers.cancel(timer);
}
