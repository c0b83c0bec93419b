import type { Duration, Instant, ProcessorCount } from '../shared/index.ts';
import type { QueuePolicy } from './queue-policy.ts';
import { RequestPlan } from './request-plan.ts';
import { ResourceReplay } from './resource-replay.ts';

/** A request of a trace: what was asked for and how long it really ran. */
export interface TracedRequest {
  readonly submittedAt: Instant;
  readonly width: ProcessorCount;
  readonly walltime: Duration;
  /** More than 0, at most `walltime`. */
  readonly runTime: Duration;
}

/** What one request got. */
export interface ReplayedRequest {
  /** The place it was given when it was submitted; undefined under a policy that promises nothing. */
  readonly promisedAt: Instant | undefined;
  readonly startedAt: Instant;
}

/**
 * Runs a trace through a policy on `capacity` processors; the result is indexed as `trace` is.
 *
 * At one instant: submissions in the trace's order, then ends in the order in which those requests started, each event
 * followed by
 * the policy's decisions, then starts.
 *
 * @param trace sorted by submission; each width at most `capacity`.
 */
export function replayRequests(
  policy: QueuePolicy,
  capacity: ProcessorCount,
  trace: readonly TracedRequest[],
): ReplayedRequest[] {
  const resource = new ResourceReplay(policy, new RequestPlan(capacity, trace[0]?.submittedAt ?? 0));
  const promises: (Instant | undefined)[] = [];
  const results = new Array<ReplayedRequest>(trace.length);
  let submitted = 0;
  for (let now = getNext(trace, submitted, resource); now < Infinity; now = getNext(trace, submitted, resource)) {
    for (let request = trace[submitted]; request?.submittedAt === now; request = trace[submitted]) {
      const { width, walltime, runTime } = request;
      promises[submitted] = resource.submit({ id: submitted, width, walltime, runTime }, now);
      submitted += 1;
    }
    resource.endDue(now);
    for (const { id } of resource.startDue(now)) results[id] = { promisedAt: promises[id], startedAt: now };
  }
  return results;
}

function getNext(trace: readonly TracedRequest[], submitted: number, resource: ResourceReplay): Instant {
  return Math.min(trace[submitted]?.submittedAt ?? Infinity, resource.nextInstant);
}
