import type { Command } from 'commander';

import type { Act } from '../../context.ts';
import { runSite } from '../../site/run-site.ts';

export function define(command: Command, act: Act): void {
  command
    .argument('<name>', 'name of the site')
    .option('--home <folder>', 'home folder (default: MUTIRAO_HOME, else ~/.mutirao)')
    .option('--now', 'replace a provider of another release at once, also while it has work')
    .action((name: string, options: { now?: true }) => act((context) => runSite(context, name, options.now === true)));
}
