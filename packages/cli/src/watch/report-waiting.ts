import type { CommandContext } from '../context.ts';
import type { Reason } from '@mutirao/api/common';
import type { ReasonCode } from '@mutirao/core/reasons';
import type { BrokerClient } from '@mutirao/runtime/clients';
import { describeError } from '@mutirao/core/shared';

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
  /** Why they request nothing more. */
  readonly reasons: readonly Reason[];
  /** Why the queue of a resource, or a provider itself, is out of reach; undefined while all can be asked. */
  readonly trouble: string | undefined;
}

/**
 * While `isOver` answers false: reports, once for each code, why a provider requests nothing more, as long as no task of the job
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
    for (const { code, text } of reasons) {
      if (!reported.has(code) && !isOver()) context.output.note(text);
      reported.add(code);
    }
  }
}

/** Nothing once a task has begun. */
async function readStatus(context: CommandContext, broker: BrokerClient, jobId: number): Promise<ResourceStatus> {
  const reasons: Reason[] = [];
  let trouble: string | undefined;
  try {
    const { job } = await broker.getJob({ jobId });
    if (job === undefined || job.runningCount + job.finishedCount + job.failedCount > 0) return { reasons, trouble };
    for (const { providerId, address } of (await broker.listProviders()).providers) {
      try {
        const { queueTrouble, reasons: given } = await (await context.provider(address)).getResource();
        if (queueTrouble !== undefined) trouble = queueTrouble.text;
        reasons.push(...(queueTrouble === undefined ? decidingOf(given) : [queueTrouble]));
      } catch (error) {
        trouble = `The provider "${providerId}" does not answer: ` + `${describeError(error)}.`;
      }
    }
  } catch {
    // The broker is away, which the caller reports.
  }
  return { reasons, trouble };
}

/** The deciding reason; where requests failed, also what was said of the last one. */
function decidingOf(reasons: readonly Reason[]): readonly Reason[] {
  return reasons.slice(0, reasons[1]?.code === lastFailed ? 3 : 1);
}

const lastFailed: ReasonCode = 'last-failed-request';
