import type { CommandContext } from '../context.ts';
import type { BrokerClient } from '@mutirao/runtime/clients';

/** How long a job may be without a running task before the user is shown why. */
const patienceMs = 3_000;
const pollMs = 1_000;

/** Which job waits, and for how long. */
export interface Waiting {
  readonly jobId: number;
  /** How long a resource manager may be out of reach while no task has begun; Infinity for ever. */
  readonly unreachableMax: number;
  isOver(): boolean;
  /** Called, once at most, when it has been out of reach for that time. */
  onUnreachable(reason: string): void;
}

/** What the providers of a job that waits say. */
interface ResourceStatus {
  /** Why they ask for nothing more. */
  readonly reasons: readonly string[];
  /** Why the queue of a resource, or a provider itself, is out of reach; undefined while all can be asked. */
  readonly trouble: string | undefined;
}

/**
 * While `isOver` answers false: reports, once each, why a provider asks for nothing more, as long as no task of the job
 * runs or has ended. Gives up a resource whose queue stays
 * unknown, whatever the cause: a manager that is out of reach, one that does not answer, or a provider that does not
 * come up.
 *
 * Never throws: the caller, which waits for the job, notices a broker that is away.
 */
export async function reportWaiting(
  context: CommandContext,
  broker: BrokerClient,
  { jobId, unreachableMax, isOver, onUnreachable }: Waiting,
): Promise<void> {
  const reported = new Set<string>();
  const from = context.clock.now();
  let reachedAt = from;
  while (!isOver() && !context.signal.aborted) {
    await context.sleep(pollMs);
    if (context.clock.now() - from < patienceMs) continue;
    const { reasons, trouble } = await readStatus(context, broker, jobId);
    if (trouble === undefined) reachedAt = context.clock.now();
    else if (context.clock.now() - reachedAt >= unreachableMax) return onUnreachable(trouble);
    for (const sentence of reasons) {
      if (!reported.has(sentence) && !isOver()) context.output.note(sentence);
      reported.add(sentence);
    }
  }
}

/** Nothing once a task has begun. */
async function readStatus(context: CommandContext, broker: BrokerClient, jobId: number): Promise<ResourceStatus> {
  const reasons: string[] = [];
  let trouble: string | undefined;
  try {
    const { job } = await broker.getJob({ jobId });
    if (job === undefined || job.runningCount + job.finishedCount + job.failedCount > 0) return { reasons, trouble };
    for (const { providerId, address } of (await broker.listProviders()).providers) {
      try {
        const resource = await (await context.provider(address)).getResource();
        if (resource.queueTrouble !== '') trouble = resource.queueTrouble;
        reasons.push(...(resource.queueTrouble === '' ? resource.reasons.slice(0, 1) : [resource.queueTrouble]));
      } catch (error) {
        trouble =
          `The provider "${providerId}" does not answer: ` +
          `${error instanceof Error ? error.message : String(error)}.`;
      }
    }
  } catch {
    // The broker is away, which the caller reports.
  }
  return { reasons, trouble };
}
