import type { Command } from 'commander';

import { MutiraoError } from '@mutirao/api/errors';
import { plural } from '@mutirao/core/shared';
import type { GetResourceResponse, LeaseState } from '@mutirao/api/provider';

import type { Act, CommandContext } from '../../context.ts';
import type { ExitStatus } from '../../exit-status.ts';
import { resourceJson } from '../../json/documents.ts';
import { describeDraining } from '../../output/draining.ts';
import { renderPairs } from '../../output/table.ts';
import { printResult } from '../../output/print-result.ts';
import { showBytes, showDuration, showInstant } from '../../output/units.ts';
import { resolveProviderAddress } from '../../selectors.ts';

export function define(command: Command, act: Act): void {
  command
    .argument('<provider>', 'name or address of the provider')
    .action((provider: string) => act((context) => showProvider(context, provider)));
}

/** Shows a provider's resource and rules, as the provider reports them. */
export async function showProvider(context: CommandContext, name: string): Promise<ExitStatus> {
  const { address } = await resolveProviderAddress(context, name);
  const resource = await (await context.provider(address)).getResource();
  const runningTasks =
    resource.drainingSinceUnixMs === undefined ? undefined : await countRunning(context, resource.providerId);
  printResult(context.output, {
    json: () => resourceJson(resource),
    table: () => resourcePairs(resource, address, runningTasks),
    quiet: () => [resource.providerId],
  });
  return 0;
}

/** Tasks that the broker has at a provider; undefined where it does not say. */
async function countRunning(context: CommandContext, providerId: string): Promise<number | undefined> {
  try {
    const { providers } = await (await context.broker()).listProviders();
    return providers.find((provider) => provider.providerId === providerId)?.runningTasks;
  } catch (error) {
    if (error instanceof MutiraoError) return undefined; // What the provider says is worth showing all the same.
    throw error;
  }
}

const assumingHeuristics: readonly string[] = ['initial', 'adaptive', 'mixed'];

/** The task time that a heuristic assumes at first; empty for heuristics that do not read `--default-task-time`. */
export function describeTaskTime(heuristic: string, defaultTaskTimeMs: number): string {
  if (!assumingHeuristics.includes(heuristic)) return '';
  return `; it assumes ${showDuration(defaultTaskTimeMs)} per task until one has finished`;
}

/** The heuristic that decides, whether it was switched to, and the task time that it assumes. */
export function describeHeuristic({ heuristic, heuristicSwitched, defaultTaskTimeMs }: GetResourceResponse): string {
  const origin = heuristicSwitched ? ', switched to while it ran' : '';
  return `${heuristic}${origin}${describeTaskTime(heuristic, defaultTaskTimeMs)}`;
}

/** What a broker has leased, and what is kept for it while it is away. */
export function describeLease(lease: LeaseState): string {
  const {
    brokerId,
    leasedTasks,
    unstockedTasks,
    horizonMs,
    standbySinceUnixMs,
    standbyUntilUnixMs,
    spooledReports,
    spooledEnds,
    spooledBytes,
  } = lease;
  const unstocked = unstockedTasks === 0 ? '' : ` (${unstockedTasks} lack inputs)`;
  const tasks = `${plural(leasedTasks, 'task')}${unstocked}`;
  const kept =
    spooledReports === 0
      ? ''
      : `; ${plural(spooledEnds, 'end')} in ${plural(spooledReports, 'report')} and ${showBytes(spooledBytes)} of ` +
        'outputs are kept for it';
  if (standbySinceUnixMs > 0)
    return (
      `${brokerId} is away; stands in for it since ${showInstant(standbySinceUnixMs)}, until ` +
      `${showInstant(standbyUntilUnixMs)}: ${tasks} left${kept}`
    );
  return `${tasks} of ${brokerId}, for ${showDuration(horizonMs)} after it goes away${kept}`;
}

function describeTaking(
  { draining, drainingSinceUnixMs, drainingReason }: GetResourceResponse,
  runningTasks: number | undefined,
): string {
  if (drainingSinceUnixMs !== undefined)
    return `no: ${describeDraining({ sinceUnixMs: drainingSinceUnixMs, reason: drainingReason, runningTasks })}`;
  return draining ? 'no: it is stopping' : 'yes';
}

function resourcePairs(resource: GetResourceResponse, address: string, runningTasks: number | undefined): string[] {
  const spaceShared = resource.resourceKind === 'cluster';
  return renderPairs([
    ['provider', resource.providerId],
    ['address', address],
    ['resource', spaceShared ? 'cluster (space-shared)' : 'machines (time-shared)'],
    ['processors', String(resource.processors)],
    ['requests at most', spaceShared ? String(resource.requestsMax) : ''],
    ['width at most', spaceShared ? `${resource.widthProcessorsMax} processors` : ''],
    ['walltime at most', spaceShared ? showDuration(resource.walltimeMsMax) : ''],
    ['walltime step', spaceShared ? showDuration(resource.walltimeGranularityMs) : ''],
    ['heuristic', spaceShared ? describeHeuristic(resource) : ''],
    ['queued requests', spaceShared ? String(resource.queuedRequests) : ''],
    ['machines now', String(resource.machines)],
    ['takes work', describeTaking(resource, runningTasks)],
    ...resource.leases.map((lease) => ['lease', describeLease(lease)] as const),
    ...(resource.spoolTrouble === '' ? [] : [['spool', resource.spoolTrouble] as const]),
    ...resource.reasons.map(({ text }, index) => [index === 0 ? 'why' : '', text] as const),
  ]);
}
