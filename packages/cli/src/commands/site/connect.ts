import type { Command } from 'commander';

import type { Act, CommandContext } from '../../context.ts';
import type { ExitStatus } from '../../exit-status.ts';
import { printResult } from '../../output/print-result.ts';
import { seeSite, siteJson } from '../../site/site-documents.ts';
import { readSite, readSites } from '../../site/site-record.ts';
import { findConnector, startConnector, stopConnector, untilConnected } from '../../site/start-connector.ts';

export function define(command: Command, act: Act): void {
  command
    .argument('[site]', 'name of the site (default: every site without a connection)')
    .option('--now', 'connect again, and replace a provider of another release, also while it has work')
    .action((name: string | undefined, options: { now?: true }) =>
      act((context) => connectSites(context, name, options.now === true)),
    );
}

/** Connects sites that nobody keeps connected, as after a restart of this machine, and waits until they are. */
export async function connectSites(
  context: CommandContext,
  name: string | undefined,
  now: boolean,
): Promise<ExitStatus> {
  const { home } = context;
  const sites =
    name === undefined
      ? readSites(home).filter((site) => now || findConnector(home, site.name) === undefined)
      : [readSite(home, name)];
  const connected: string[] = [];
  for (const site of sites) {
    if (now) await stopConnector(context, site.name);
    const pid = startConnector(home, site.name, now ? ['--now'] : []);
    await untilConnected(context, { name: site.name, pid }, ({ status, detail }) => {
      context.output.note(`${site.name}: ${status} ${detail}`.trimEnd());
    });
    connected.push(site.name);
  }
  printResult(context.output, {
    json: () => connected.map((each) => siteJson(seeSite(home, readSite(home, each)))),
    quiet: () => connected,
    table: () => [
      connected.length === 0 ? 'Every site is kept connected already.' : `Connected: ${connected.join(', ')}.`,
    ],
  });
  return 0;
}
