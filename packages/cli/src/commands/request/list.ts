import type { Command } from 'commander';

import { RequestStatus, type AllocationRequest } from '@mutirao/api/provider';

import type { Act, CommandContext } from '../../context.ts';
import type { ExitStatus } from '../../exit-status.ts';
import { requestJson } from '../../json/documents.ts';
import { renderTable } from '../../output/table.ts';
import { printResult } from '../../output/print-result.ts';
import { showDuration, showMoment } from '../../output/units.ts';
import { getEnumName } from '../../wire/names.ts';

export function define(command: Command, act: Act): void {
  command
    .option('--all', 'also list requests that have ended')
    .action((options: { all?: true }) => act((context) => listRequests(context, options.all === true)));
}

/** Lists allocation requests of all providers. */
export async function listRequests(context: CommandContext, includeEnded: boolean): Promise<ExitStatus> {
  const { requests } = await (await context.broker()).listRequests({ includeEnded });
  printResult(context.output, {
    json: () => requests.map(requestJson),
    table: () =>
      requests.length === 0
        ? [includeEnded ? 'No requests so far.' : 'No requests now; --all lists those that ended.']
        : requestTable(requests, context.clock.now()),
    quiet: () => requests.map(nameOfRequest),
  });
  return 0;
}

/** What users call a request: `alpha/3`. */
export function nameOfRequest(request: AllocationRequest): string {
  return `${request.providerId}/${request.requestId}`;
}

function requestTable(requests: readonly AllocationRequest[], now: number): string[] {
  return renderTable(
    [
      { title: 'REQUEST' },
      { title: 'STATUS' },
      { title: 'WIDTH', right: true },
      { title: 'WALLTIME', right: true },
      { title: 'SUBMITTED' },
      { title: 'WAITED', right: true },
      { title: 'RUN TIME', right: true },
      { title: 'REASON' },
    ],
    requests.map((request) => [
      nameOfRequest(request),
      getEnumName(RequestStatus, request.status),
      String(request.widthProcessors),
      showDuration(request.walltimeMs),
      showMoment(request.submittedUnixMs, now),
      ...listTimes(request, now),
      getReason(request),
    ]),
  );
}

/**
 * Why it was requested; once it is over, why it ended, with the last words of what failed there. That the manager has
 * taken out what we withdrew says less than why we withdrew it.
 */
function getReason({ endedUnixMs, reasons }: AllocationRequest): string {
  if (endedUnixMs === 0) return reasons[0]?.text ?? '';
  const said = reasons.filter(({ code }) => code !== 'withdrawn-by-manager');
  return (said.at(-1) ?? reasons.at(-1))?.text ?? '';
}

function listTimes(
  { submittedUnixMs, startedUnixMs, endedUnixMs }: AllocationRequest,
  now: number,
): [waited: string, ran: string] {
  const end = endedUnixMs === 0 ? now : endedUnixMs;
  const started = startedUnixMs !== 0;
  return [
    submittedUnixMs === 0 ? '-' : showDuration(Math.max(0, (started ? startedUnixMs : end) - submittedUnixMs)),
    started ? showDuration(Math.max(0, end - startedUnixMs)) : '-',
  ];
}
