import { MutiraoError } from '@mutirao/api/errors';
import { RequestStatus } from '@mutirao/api/provider';

import type { CommandContext } from '../context.ts';
import type { SiteRecord } from './site-record.ts';

export const leaveReason = 'the site is being removed';
/** Milliseconds that the resource manager may take to end what runs. */
const giveBackMax = 15_000;
const pollInterval = 500;
const pendingStatuses: ReadonlySet<RequestStatus> = new Set([
  RequestStatus.SUBMITTING,
  RequestStatus.QUEUED,
  RequestStatus.RUNNING,
]);

/**
 * Has the provider give back its requests, and waits for a moment until no Mutirao process runs on other hosts of the
 * site. One that cannot be reached is ended as it is.
 */
export async function giveBack(
  context: Pick<CommandContext, 'provider' | 'clock' | 'sleep' | 'signal' | 'output'>,
  { name, address, ssh }: SiteRecord,
): Promise<void> {
  try {
    const provider = await context.provider(address);
    await provider.drain({ reason: leaveReason, atOnce: true });
    const until = context.clock.now() + giveBackMax;
    for (;;) {
      const { machines, resourceKind } = await provider.getResource();
      const pending = (await provider.listRequests()).requests.filter(({ status }) =>
        pendingStatuses.has(status),
      ).length;
      if (pending === 0 && (machines === 0 || resourceKind === 'machines')) return;
      if (context.signal.aborted || context.clock.now() >= until) {
        context.output.note(`left at ${ssh}: ${pending} requests and ${machines} machines, which end by themselves`);
        return;
      }
      await context.sleep(pollInterval);
    }
  } catch (error) {
    if (!(error instanceof MutiraoError)) throw error;
    context.output.note(`cannot ask the provider of ${name} to release its requests: ${error.message}`);
  }
}
