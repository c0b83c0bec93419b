import { JobStatus, type GetJobResponse, type JobEvent, type JobSummary } from '@mutirao/api/broker';
import { MutiraoError, registry } from '@mutirao/api/errors';

import type { BrokerClient } from '@mutirao/runtime/clients';
import type { CommandContext } from '../context.ts';
import { openProgress } from './progress.ts';
import { WaitingReasons } from './waiting-reasons.ts';

/** What to wait for, and how. */
export interface FollowOptions {
  readonly jobId: number;
  /** Also prints progress when standard error is not a terminal. */
  readonly progress: boolean;
}

/** Time between two looks at a job with news, and between two drawings of one without. */
const lookEveryMs = 200;

/** How long a broker may be away, counted from its last word, before waiting is given up. */
const awayMax = 120_000;

/**
 * Waits until a job has ended, showing its progress, and returns how it ended. Goes on where it was after a broker's
 * restart.
 *
 * @throws {MutiraoError} MUT_UNREACHABLE when the broker stays away, MUT_CANCELLED when the user interrupts the wait
 * (the job goes on).
 */
export async function followJob(
  context: CommandContext,
  broker: BrokerClient,
  { jobId, progress }: FollowOptions,
): Promise<JobSummary> {
  const shown = openProgress(context.output, progress);
  const reasons = new WaitingReasons(context, broker, jobId);
  const show = (found: Looked): void => {
    shown.update(found.job, context.clock.now(), found.remaining);
    reasons.look(found.job);
  };
  const absence = { receivedAt: context.clock.now(), isAway: false };
  let place: Place = noPlace;
  try {
    for (;;) {
      const watch = startWatch(context, broker, { jobId, place });
      try {
        return await lookUntilEnd(context, broker, { jobId, watch, absence, show });
      } catch (error) {
        if (context.signal.aborted) throw interrupted(jobId, error);
        if (!isPassing(error) || context.clock.now() - absence.receivedAt > awayMax) throw error;
        if (!absence.isAway) context.output.note('The broker does not answer; waiting for it ...');
        absence.isAway = true;
      } finally {
        place = watch.stop();
      }
      await context.sleep(lookEveryMs);
    }
  } finally {
    shown.close();
  }
}

/** Events say when to look; the job itself says what is so. */
async function lookUntilEnd(
  context: CommandContext,
  broker: BrokerClient,
  {
    jobId,
    watch,
    absence,
    show,
  }: {
    jobId: number;
    watch: Watch;
    absence: { receivedAt: number; isAway: boolean };
    show(found: Looked): void;
  },
): Promise<JobSummary> {
  let found = await look(broker, jobId);
  for (;;) {
    if (absence.isAway) context.output.note('The broker answers again.');
    absence.isAway = false;
    absence.receivedAt = context.clock.now();
    show(found);
    if (found.job.status !== JobStatus.RUNNING) return found.job;
    await Promise.race([context.sleep(lookEveryMs), watch.bell()]);
    if (context.signal.aborted) throw interrupted(jobId, undefined);
    if (watch.takeNews()) found = await look(broker, jobId);
  }
}

/** A stream of events that is read in the background. */
interface Watch {
  /** Resolves when it is worth to look at once: something happened to the job as a whole, or the stream is over. */
  bell(): Promise<void>;
  /** Whether events have come since the last time. @throws what ended the stream, for nothing more will come. */
  takeNews(): boolean;
  /** Closes the stream and returns the place of the last event that came. */
  stop(): Place;
}

/** Where in the broker's journal a watch is. */
interface Place {
  readonly after: number;
  /** Events of the change behind `after` that came already. */
  readonly eventCount: number;
  /** Of the journal that `after` is of; undefined before anything came. */
  readonly journalInstance: string | undefined;
}

const noPlace: Place = { after: 0, eventCount: 0, journalInstance: undefined };

function startWatch(
  context: CommandContext,
  broker: BrokerClient,
  { jobId, place }: { readonly jobId: number; readonly place: Place },
): Watch {
  const stop = new AbortController();
  const state: { place: Place; hasNews: boolean; failure: unknown } = { place, hasNews: false, failure: undefined };
  let bell = Promise.withResolvers<undefined>();
  const read = async (): Promise<void> => {
    const { after, eventCount, journalInstance: known } = place;
    const request = {
      jobId,
      afterSequence: after,
      afterEventCount: eventCount,
      ...(known === undefined ? {} : { journalInstance: known }),
    };
    for await (const message of broker.watchJob(request, AbortSignal.any([stop.signal, context.signal]))) {
      const { events, lastEventCount = 0, journalInstance = state.place.journalInstance } = message;
      const after = message.lastSequence ?? events.at(-1)?.sequence ?? state.place.after;
      state.place = { after, eventCount: lastEventCount, journalInstance };
      state.hasNews ||= events.length > 0;
      if (events.some(isOfWholeJob)) bell.resolve(undefined);
    }
    throw new MutiraoError('MUT_UNREACHABLE', 'the broker ended the stream of events');
  };
  read().catch((error: unknown) => {
    const isElsewhere = error instanceof MutiraoError && error.code === 'MUT_JOURNAL_POSITION';
    // The broker came back with another journal: its events are counted again, and the job itself says what is so.
    if (isElsewhere) state.place = noPlace;
    state.failure = isElsewhere ? new MutiraoError('MUT_UNREACHABLE', error.message, { cause: error }) : error;
    bell.resolve(undefined);
  });
  return {
    bell: () => bell.promise,
    takeNews: () => {
      if (state.failure !== undefined) throw state.failure;
      const { hasNews } = state;
      state.hasNews = false;
      bell = Promise.withResolvers<undefined>();
      return hasNews;
    },
    stop: () => {
      stop.abort();
      return state.place;
    },
  };
}

function isOfWholeJob(event: JobEvent): boolean {
  return event.type.startsWith('job.') && event.type !== 'job.accepted';
}

/** How a job is, and how long what is open of it still takes. */
interface Looked {
  readonly job: JobSummary;
  readonly remaining: number | undefined;
}

async function look(broker: BrokerClient, jobId: number): Promise<Looked> {
  const answer = await broker.getJob({ jobId, withoutSpec: true });
  const { job } = answer;
  if (job === undefined) throw new MutiraoError('MUT_INTERNAL', `the broker answered without the job ${jobId}`);
  return { job, remaining: estimateOf(answer) };
}

/** The middle of what `job show` says, so that both say the same. Time in a queue does not count. */
function estimateOf({ remainingMsMin, remainingMsMax }: GetJobResponse): number | undefined {
  return remainingMsMin === undefined || remainingMsMax === undefined
    ? undefined
    : (remainingMsMin + remainingMsMax) / 2;
}

function isPassing(error: unknown): boolean {
  return error instanceof MutiraoError && registry[error.code].retryable;
}

function interrupted(jobId: number, cause: unknown): MutiraoError {
  return new MutiraoError(
    'MUT_CANCELLED',
    `stopped waiting; job ${jobId} goes on. "mutirao job wait ${jobId}" waits again, "mutirao job cancel ` +
      `${jobId}" ends it`,
    { cause },
  );
}
