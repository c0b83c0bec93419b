import type { WaitJobRequest, WaitJobResponse } from '@mutirao/api/broker';
import { encodeJobSummary } from '@mutirao/api/codecs';
import { MutiraoError } from '@mutirao/api/errors';
import { findJobSummary, type JobSummary } from '@mutirao/core/machines/broker';
import type { JobId } from '@mutirao/core/shared';
import type { CallContext, UnaryHandler } from '@mutirao/runtime/rpc';

import type { BrokerParts } from './broker-parts.ts';

/** The answer leaves this time before the caller's deadline, so that it arrives. */
const answerMargin = 100;

/** Answers when a job has ended, or with where it stands shortly before the deadline of the call. */
export function waitJobRoute(parts: BrokerParts): UnaryHandler<WaitJobRequest, WaitJobResponse> {
  return async ({ jobId }, context) => ({ job: encodeJobSummary(await waitJob(parts, jobId, context)) });
}

async function waitJob(parts: BrokerParts, jobId: JobId, context: CallContext): Promise<JobSummary> {
  const { userId, signal, stopping } = context;
  const expired = new AbortController();
  const timer =
    context.deadline === undefined
      ? undefined
      : parts.timers.start(Math.max(0, context.deadline - parts.clock.now() - answerMargin), () => {
          expired.abort();
        });
  try {
    for (;;) {
      const summary = findJobSummary(parts.driver.state, userId, jobId);
      if (summary === undefined) throw new MutiraoError('MUT_NOT_FOUND', `there is no job ${jobId} of yours`);
      // An end that is not in the journal yet could still be taken back by a fall.
      const hasEnded = summary.endedAt !== 0 && parts.driver.stalledBy === undefined;
      if (hasEnded || expired.signal.aborted) return summary;
      if (signal.aborted) throw new MutiraoError('MUT_CANCELLED', 'the caller left');
      if (stopping.aborted)
        throw new MutiraoError('MUT_STOPPING', 'the broker is stopping; wait again when it is back');
      await parts.watchers.next(jobId, [signal, stopping, expired.signal]);
    }
  } finally {
    parts.timers.cancel(timer);
  }
}
