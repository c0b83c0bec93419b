import type { Command } from 'commander';

import { actOnAll } from '../../act-on-each.ts';
import type { Act, CommandContext } from '../../context.ts';
import type { ExitStatus } from '../../exit-status.ts';
import { findClusterAddress } from '../../grid/addresses.ts';
import { printResult } from '../../output/print-result.ts';

export function define(command: Command, act: Act): void {
  command
    .argument('<requests...>', 'request numbers, as "mutirao cluster queue" prints them')
    .option('--cluster <name>', 'name or address of the cluster (default: the only one of this grid)')
    .action((requests: string[], options: { cluster?: string }) =>
      act((context) => cancelRequests(context, requests, options.cluster)),
    );
}

/** Takes requests out of a cluster's queue, or ends those that run; repeating it is harmless. */
export async function cancelRequests(
  context: CommandContext,
  requestIds: readonly string[],
  clusterName: string | undefined,
): Promise<ExitStatus> {
  const { name, address } = findClusterAddress(context.home, clusterName);
  const cluster = await context.cluster(address);
  const { done, failure } = await actOnAll(requestIds, async (requestId) => {
    await cluster.release({ requestId });
    return requestId;
  });
  printResult(context.output, {
    json: () => done.map((requestId) => ({ cluster: name, request_id: requestId })),
    table: () => done.map((requestId) => `Request ${requestId} of ${name} is released.`),
    quiet: () => done,
  });
  if (failure !== undefined) throw failure;
  return 0;
}
