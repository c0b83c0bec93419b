import type { Command } from 'commander';

import type { ProviderRecord } from '@mutirao/api/broker';
import { MutiraoError } from '@mutirao/api/errors';

import type { Act, CommandContext } from '../../context.ts';
import type { ExitStatus } from '../../exit-status.ts';
import { listedProviderJson } from '../../json/documents.ts';
import { describeDraining } from '../../output/draining.ts';
import { renderTable } from '../../output/table.ts';
import { printResult } from '../../output/print-result.ts';

export function define(command: Command, act: Act): void {
  command.action(() => act(listProviders));
}

/** Lists the broker's providers, each with its heuristic. */
export async function listProviders(context: CommandContext): Promise<ExitStatus> {
  const { providers } = await (await context.broker()).listProviders();
  const heuristics = new Map(
    await Promise.all(
      providers.map(async (provider) => [provider.providerId, await askHeuristic(context, provider)] as const),
    ),
  );
  printResult(context.output, {
    json: () => providers.map((provider) => listedProviderJson(provider, heuristics.get(provider.providerId))),
    table: () =>
      providers.length === 0
        ? ['No providers. Add one with "mutirao provider add NAME ADDRESS".']
        : providerTable(providers, heuristics),
    quiet: () => providers.map((provider) => provider.providerId),
  });
  return 0;
}

/** What decides a provider's requests; undefined where it is away, gives no answer or asks for nothing. */
async function askHeuristic(
  context: CommandContext,
  { address, connected }: ProviderRecord,
): Promise<string | undefined> {
  if (!connected) return undefined;
  try {
    const { heuristic, resourceKind } = await (await context.provider(address)).getResource();
    return resourceKind === 'cluster' ? heuristic : undefined;
  } catch (error) {
    if (error instanceof MutiraoError) return undefined; // The broker's part of the list is worth showing all the same.
    throw error;
  }
}

/** Why nothing new is placed there; empty where it is. */
function noteOf({ connected, lastError, drainingSinceUnixMs, drainingReason, runningTasks }: ProviderRecord): string {
  if (!connected) return lastError;
  return drainingSinceUnixMs === undefined
    ? ''
    : describeDraining({ sinceUnixMs: drainingSinceUnixMs, reason: drainingReason, runningTasks });
}

/** Providers as a table, with what decides their requests where that was asked. */
export function providerTable(
  providers: readonly ProviderRecord[],
  heuristics?: ReadonlyMap<string, string | undefined>,
): string[] {
  const rows = providers.map((provider) => [
    provider.providerId,
    provider.address,
    provider.connected ? 'yes' : 'no',
    String(provider.machines),
    ...(heuristics === undefined ? [] : [heuristics.get(provider.providerId) ?? '']),
    noteOf(provider),
  ]);
  return renderTable(
    [
      { title: 'PROVIDER' },
      { title: 'ADDRESS' },
      { title: 'CONNECTED' },
      { title: 'MACHINES', right: true },
      ...(heuristics === undefined ? [] : [{ title: 'HEURISTIC' }]),
      { title: 'NOTE' },
    ],
    rows,
  );
}
