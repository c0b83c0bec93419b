import type { CommandContext } from '../context.ts';
import type { BrokerClient } from '@mutirao/runtime/clients';

/** What a provider says whose resource manager it cannot ask. */
const unreachable = 'The queue of the resource cannot be read';
/** How long a job may be without a running task before it is told why. */
const patienceMs = 3_000;
const pollMs = 1_000;

/** Which job waits, and for how long. */
export interface Waiting {
  readonly jobId: number;
  /** How long a resource manager may be out of reach while no task has begun; Infinity for ever. */
  readonly unreachableMax: number;
  isOver(): boolean;
  /** Called, once at most, when it has been out of reach for so long. */
  onUnreachable(reason: string): void;
}

/**
 * As long as `isOver` answers false: tells, once each, why a provider asks for nothing more while a job has no task that runs and none that has ended.
 *
 * Never throws: who waits for the job hears of a broker that is away.
 */
export async function tellWaiting(context: CommandContext, broker: BrokerClient, { jobId, unreachableMax, isOver, onUnreachable }: Waiting): Promise<void> {
  const told = new Set<string>();
  const from = context.clock.now();
  let reachedAt = from;
  while (!isOver() && !context.signal.aborted) {
    await context.sleep(pollMs);
    if (context.clock.now() - from < patienceMs) continue;
    try {
      const reasons = await reasonsOf(context, broker, jobId);
      const trouble = reasons.find((reason) => reason.startsWith(unreachable));
      if (trouble === undefined) reachedAt = context.clock.now();
      else if (context.clock.now() - reachedAt >= unreachableMax) return onUnreachable(trouble);
      for (const sentence of reasons) {
        if (!told.has(sentence) && !isOver()) context.output.note(sentence);
        told.add(sentence);
      }
    } catch {
      // Asked again.
    }
  }
}

/** Nothing once a task has begun. */
async function reasonsOf(context: CommandContext, broker: BrokerClient, jobId: number): Promise<string[]> {
  const { job } = await broker.getJob({ jobId });
  if (job === undefined || job.runningCount + job.finishedCount + job.failedCount > 0) return [];
  const { providers } = await broker.listProviders();
  const found: string[] = [];
  for (const { address } of providers) {
    const { reasons } = await (await context.provider(address)).getResource();
    found.push(...reasons.slice(0, 1));
  }
  return found;
}
