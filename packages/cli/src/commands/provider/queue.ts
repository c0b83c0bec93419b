import type { Command } from 'commander';

import { MutiraoError } from '@mutirao/api/errors';
import { plural } from '@mutirao/core/shared';
import type { ProviderQueue } from '@mutirao/api/provider';

import type { Act, CommandContext } from '../../context.ts';
import type { ExitStatus } from '../../exit-status.ts';
import { providerQueueJson } from '../../json/provider-queue.ts';
import { renderTable } from '../../output/table.ts';
import { printResult } from '../../output/print-result.ts';
import { showDuration } from '../../output/units.ts';
import { resolveProviderAddress } from '../../selectors.ts';

export function define(command: Command, act: Act): void {
  command
    .argument('<provider>', 'name or address of the provider')
    .action((provider: string) => act((context) => showQueue(context, provider)));
}

/** Steps and requests of others that a table shows. */
const shownMax = 20;

/**
 * Shows the queue of a provider's resource as its request heuristic sees it: free processors over time, our requests in
 * it, what was compared last.
 */
export async function showQueue(context: CommandContext, name: string): Promise<ExitStatus> {
  const { address } = await resolveProviderAddress(context, name);
  const { queue } = await (await context.provider(address)).getQueue();
  if (queue === undefined) throw new MutiraoError('MUT_PROTOCOL', `provider ${name} reported no queue`);
  printResult(context.output, {
    json: () => providerQueueJson(queue),
    table: () => [...findHead(queue), ...stepTable(queue), ...entryTable(queue), ...decisionTable(queue)],
    quiet: () => queue.steps.map(({ fromUnixMs, freeProcessors }) => `${fromUnixMs} ${freeProcessors}`),
  });
  return 0;
}

function findHead({
  providerId,
  trouble,
  atUnixMs,
  readUnixMs,
  processors,
  runningCount,
  waitingCount,
}: ProviderQueue): string[] {
  const known =
    readUnixMs === 0
      ? []
      : [
          `${providerId}: ${plural(processors, 'processor')}, ${plural(runningCount, 'request')} running and ` +
            `${waitingCount} waiting; read ${showDuration(Math.max(0, atUnixMs - readUnixMs))} ago.`,
        ];
  return [...known, ...(trouble === undefined ? [] : [trouble.text])];
}

function within(atUnixMs: number, unixMs: number): string {
  return unixMs <= atUnixMs ? 'now' : `in ${showDuration(unixMs - atUnixMs)}`;
}

function stepTable({ atUnixMs, steps, stepsUntilUnixMs }: ProviderQueue): string[] {
  if (steps.length === 0) return [];
  const shown = steps.slice(0, shownMax);
  const isCut = steps.length > shownMax || stepsUntilUnixMs !== undefined;
  return [
    '',
    ...renderTable(
      [{ title: 'FROM' }, { title: 'FREE', right: true }],
      shown.map(({ fromUnixMs, freeProcessors }) => [within(atUnixMs, fromUnixMs), String(freeProcessors)]),
    ),
    ...(isCut ? ['... (all with --json)'] : []),
  ];
}

function entryTable({ atUnixMs, entries }: ProviderQueue): string[] {
  const own = entries.filter(({ requestId }) => requestId !== '');
  if (own.length === 0) return entries.length === 0 ? [] : ['', 'None of the requests is ours.'];
  const rows = own
    .slice(0, shownMax)
    .map(({ requestId, managerRequestId, running, widthProcessors, walltimeMs, startsUnixMs, forecast }) => [
      requestId,
      managerRequestId,
      running ? 'running' : 'queued',
      String(widthProcessors),
      showDuration(walltimeMs),
      running
        ? '-'
        : startsUnixMs === 0
          ? 'not known'
          : `${within(atUnixMs, startsUnixMs)}${forecast ? ' by walltimes' : ', promised'}`,
    ]);
  return [
    '',
    ...renderTable(
      [
        { title: 'REQUEST' },
        { title: 'MANAGER ID' },
        { title: 'STATUS' },
        { title: 'WIDTH', right: true },
        { title: 'WALLTIME', right: true },
        { title: 'STARTS' },
      ],
      rows,
    ),
  ];
}

function decisionTable({ atUnixMs, decision }: ProviderQueue): string[] {
  if (decision === undefined) return [];
  const rows = decision.candidates.map(
    ({ widthProcessors, walltimeMs, startsUnixMs, throughputTasksPerHour, chosen }) => [
      chosen ? '*' : '',
      String(widthProcessors),
      showDuration(walltimeMs),
      within(atUnixMs, startsUnixMs),
      throughputTasksPerHour.toFixed(1),
    ],
  );
  const when = decision.atUnixMs === 0 ? '' : `, ${showDuration(Math.max(0, atUnixMs - decision.atUnixMs))} ago`;
  return [
    '',
    `Options that ${decision.heuristic} compared last${when} (* chosen):`,
    ...renderTable(
      [
        { title: '' },
        { title: 'WIDTH', right: true },
        { title: 'WALLTIME', right: true },
        { title: 'EXPECTED START' },
        { title: 'TASKS/H', right: true },
      ],
      rows,
    ),
  ];
}
