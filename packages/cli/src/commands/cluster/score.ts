import type { Command } from 'commander';

import type { GetScoresResponse } from '@mutirao/api/cluster';

import type { Act, CommandContext } from '../../context.ts';
import type { ExitStatus } from '../../exit-status.ts';
import { findClusterAddress } from '../../grid/addresses.ts';
import { clusterScoresJson } from '../../json/documents.ts';
import { renderTable } from '../../output/table.ts';
import { printResult } from '../../output/print-result.ts';
import { showDuration } from '../../output/units.ts';

export function define(command: Command, act: Act): void {
  command
    .argument('[user]', 'only this user (default: every user with a finished request)')
    .option('--cluster <name>', 'name or address of the cluster (default: the only one of this grid)')
    .action((user: string | undefined, options: { cluster?: string }) =>
      act((context) => showScores(context, user ?? '', options.cluster)),
    );
}

/** Shows the scores of a cluster's users, and what they do to its queue. @param user empty for all. */
export async function showScores(
  context: CommandContext,
  user: string,
  clusterName: string | undefined,
): Promise<ExitStatus> {
  const { name, address } = findClusterAddress(context.home, clusterName);
  const found = await (await context.cluster(address)).getScores({ userId: user });
  printResult(context.output, {
    json: () => clusterScoresJson(name, found),
    table: () => [findHead(name, found), ...getTable(found)],
    quiet: () => found.scores.map(({ userId }) => userId),
  });
  return 0;
}

function findHead(name: string, { ordersQueue, weight, leadMsMax }: GetScoresResponse): string {
  if (!ordersQueue) return `${name} serves its queue in the order of arrival, so scores do not change.`;
  return (
    `${name} orders its queue by scores: a point is worth ${showDuration(0.8 * weight * 1000)} of waiting, and ` +
    `nobody goes before who came ${showDuration(leadMsMax)} earlier.`
  );
}

function getTable({ scores }: GetScoresResponse): string[] {
  if (scores.length === 0) return ['No request has counted so far; all users start with the same score.'];
  return renderTable(
    [
      { title: 'USER' },
      { title: 'SCORE', right: true },
      { title: 'REQUESTS', right: true },
      { title: 'WALLTIME USED', right: true },
    ],
    scores.map(({ userId, score, countedCount, precisionMean }) => [
      userId,
      score.toFixed(1),
      String(countedCount),
      countedCount === 0 ? '-' : `${(100 * precisionMean).toFixed(0)} %`,
    ]),
  );
}
