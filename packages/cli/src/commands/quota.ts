import type { Command } from 'commander';

import type { QuotaUse } from '@mutirao/api/common';
import { MutiraoError } from '@mutirao/api/errors';
import { quotaTexts } from '@mutirao/api/reasons';
import { describeQuotaAmount, isQuotaName } from '@mutirao/core/quotas';

import type { Act, CommandContext } from '../context.ts';
import type { ExitStatus } from '../exit-status.ts';
import { renderTable } from '../output/table.ts';
import { printResult } from '../output/print-result.ts';
import { openManager } from '../reservations/show-reservation.ts';

/** Whose quotas are shown. */
export interface QuotaOptions {
  readonly user?: string;
}

/** What one process counts. */
interface Kept extends QuotaUse {
  readonly connector: string;
}

export function define(command: Command, act: Act): void {
  command
    .option('--user <name>', 'quotas of another user; only for the owner of the grid')
    .action((options: QuotaOptions) => act((context) => showQuotas(context, options)));
}

/** Shows what a user has and may have at the broker, at its providers and at the reservation manager. */
export async function showQuotas(context: CommandContext, { user = '' }: QuotaOptions): Promise<ExitStatus> {
  const broker = await context.broker();
  const kept = keptBy('broker', (await broker.getQuota({ userId: user })).uses);
  for (const { providerId, address } of (await broker.listProviders()).providers) {
    kept.push(
      ...(await ask(
        context,
        `provider ${providerId}`,
        async () => (await (await context.provider(address)).getQuota({ userId: user })).uses,
      )),
    );
  }
  kept.push(
    ...(await ask(
      context,
      'reservations',
      async () => (await (await openManager(context, undefined)).getQuota({ userId: user })).uses,
    )),
  );
  printResult(context.output, {
    json: () => kept.map(({ connector, kind, used, allowed }) => ({ connector, kind, used, allowed: allowed ?? null })),
    table: () =>
      renderTable(
        [
          { title: 'ENFORCED BY' },
          { title: 'QUOTA' },
          { title: 'USED', right: true },
          { title: 'LIMIT', right: true },
          { title: 'COUNTS' },
        ],
        kept.map(({ connector, kind, used, allowed }) => [
          connector,
          kind,
          show(kind, used),
          show(kind, allowed ?? Infinity),
          isQuotaName(kind) ? quotaTexts[kind].of : '',
        ]),
      ),
    quiet: () => kept.map(({ kind }) => kind),
  });
  return 0;
}

/** What a process answers; one that is not there, or is of another release, has nothing to say. */
async function ask(
  context: CommandContext,
  connector: string,
  get: () => Promise<readonly QuotaUse[]>,
): Promise<Kept[]> {
  try {
    return keptBy(connector, await get());
  } catch (error) {
    if (!(error instanceof MutiraoError)) throw error;
    if (error.code !== 'MUT_UNREACHABLE' && error.code !== 'MUT_UNIMPLEMENTED')
      context.output.note(`${connector}: quotas unknown: ${error.message}`);
    return [];
  }
}

function keptBy(connector: string, uses: readonly QuotaUse[]): Kept[] {
  return uses.map((use) => ({ ...use, connector }));
}

/** Calls per second are not counted up: only the bound means something. */
function show(kind: string, amount: number): string {
  return isQuotaName(kind) ? describeQuotaAmount(kind, amount) : String(amount);
}
