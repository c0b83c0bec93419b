import type { CommandContext } from '../context.ts';
import type { BrokerClient } from '../client/broker-client.ts';

/** How long a job may be without a running task before it is told why. */
const patienceMs = 3_000;
const pollMs = 1_000;

/**
 * As long as `isOver` answers false: tells, once each, why a provider asks for nothing more while a job has no task that runs and none that has ended.
 *
 * Never throws: who waits for the job hears of a broker that is away.
 */
export async function tellWaiting(context: CommandContext, broker: BrokerClient, { jobId, isOver }: { jobId: number; isOver(): boolean }): Promise<void> {
  const told = new Set<string>();
  const from = context.clock.now();
  while (!isOver() && !context.signal.aborted) {
    await context.sleep(pollMs);
    if (context.clock.now() - from < patienceMs) continue;
    try {
      const { job } = await broker.getJob({ jobId });
      if (job === undefined || job.runningCount + job.finishedCount + job.failedCount > 0) continue;
      for (const sentence of await reasonsOf(context, broker)) {
        if (!told.has(sentence) && !isOver()) context.output.note(sentence);
        told.add(sentence);
      }
    } catch {
      // Asked again.
    }
  }
}

async function reasonsOf(context: CommandContext, broker: BrokerClient): Promise<string[]> {
  const { providers } = await broker.listProviders();
  const found: string[] = [];
  for (const { address } of providers) {
    const { reasons } = await (await context.provider(address)).getResource();
    found.push(...reasons.slice(0, 1));
  }
  return found;
}
