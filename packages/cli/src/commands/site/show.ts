import type { Command } from 'commander';

import type { Act, CommandContext } from '../../context.ts';
import type { ExitStatus } from '../../exit-status.ts';
import { printResult } from '../../output/print-result.ts';
import { seeSite, siteJson, sitePairs } from '../../site/site-documents.ts';
import { readSite } from '../../site/site-record.ts';

export function define(command: Command, act: Act): void {
  command
    .argument('<site>', 'name of the site')
    .action((name: string) => act((context) => Promise.resolve(showSite(context, name))));
}

/** Shows a site: how it is reached, what runs there, and what its connection does. */
export function showSite({ home, output, clock }: CommandContext, name: string): ExitStatus {
  const seen = seeSite(home, readSite(home, name));
  printResult(output, { json: () => siteJson(seen), table: () => sitePairs(seen, clock.now()), quiet: () => [name] });
  return 0;
}
