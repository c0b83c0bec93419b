import type { Command } from 'commander';

import type { Act, CommandContext } from '../../context.ts';
import type { ExitStatus } from '../../exit-status.ts';
import { printResult } from '../../output/print-result.ts';
import { seeSite, siteJson, siteTable } from '../../site/site-documents.ts';
import { readSites } from '../../site/site-record.ts';

export function define(command: Command, act: Act): void {
  command.action(() => act((context) => Promise.resolve(listSites(context))));
}

/** Lists the home folder's sites and what becomes of their connections. */
export function listSites({ home, output, clock }: CommandContext): ExitStatus {
  const sites = readSites(home).map((site) => seeSite(home, site));
  printResult(output, {
    json: () => sites.map(siteJson),
    quiet: () => sites.map(({ site }) => site.name),
    table: () =>
      sites.length === 0
        ? ['No sites. Add one with "mutirao site add NAME --ssh USER@HOST --manager slurm".']
        : siteTable(sites, clock.now()),
  });
  return 0;
}
