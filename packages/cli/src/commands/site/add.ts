import { resolve } from 'node:path';
import { InvalidArgumentError, type Command } from 'commander';

import { MutiraoError } from '@mutirao/api/errors';

import type { Act, CommandContext } from '../../context.ts';
import type { ExitStatus } from '../../exit-status.ts';
import { printResult } from '../../output/print-result.ts';
import { readIsolationMode } from '@mutirao/runtime/program';
import { findProgramFile } from '@mutirao/runtime/ssh';
import { seeSite, siteJson } from '../../site/site-documents.ts';
import { findSite, readSite, writeSite, type SiteRecord } from '../../site/site-record.ts';
import { forgetSite, startConnector, stopConnector, untilConnected } from '../../site/start-connector.ts';
import { collect } from '../../usage/repeated-options.ts';

/** What is said about a new site. */
export interface AddOptions {
  readonly ssh: string;
  readonly manager: string;
  readonly sshOption: readonly string[];
  readonly processors?: number;
  readonly folder: string;
  readonly setup: string;
  readonly isolation?: string;
  readonly program?: string;
}

const managers = ['slurm', 'grid-engine', 'oar', 'embedded', 'none', 'commands'];

export function define(command: Command, act: Act): void {
  command
    .argument('<name>', 'name of the site and of its provider')
    .usage("<name> --ssh <user@host> --manager <manager> [options] [-- provider's options]")
    .optionsGroup('The site:')
    .requiredOption('--ssh <destination>', 'how ssh reaches it: user@host, or a name in ~/.ssh/config')
    .requiredOption(
      '--manager <manager>',
      'resource manager there: slurm, grid-engine, oar, embedded, none or commands',
    )
    .option(
      '--ssh-option <option>',
      'an option for ssh: KEY=VALUE, or a flag with its value such as -F/path; may be repeated',
      collect,
      [],
    )
    .optionsGroup('What runs there:')
    .option('--processors <count>', 'with --manager embedded: processors of the cluster to start there', count)
    .option('--folder <folder>', 'folder for our files there, relative to the home folder of the account', '.mutirao')
    .option('--setup <command>', 'shell command to run before the provider starts, for example "module load slurm"', '')
    .option(
      '--isolation <how>',
      'isolation of tasks from agents: auto, bubblewrap, account=NAME or none (default: auto)',
    )
    .option(
      '--program <file>',
      'the executable to copy there (default: this one, or the dist/mutirao that scripts/pack makes)',
    )
    .action((name: string, options: AddOptions) => act((context) => addSite(context, name, options)));
}

/** Makes a cluster behind ssh a site: carries the program over, starts the provider there and has the broker use it. */
export async function addSite(context: CommandContext, name: string, options: AddOptions): Promise<ExitStatus> {
  const { home } = context;
  const site = readOptions(context, name, options);
  await refuseTaken(context, name);
  await findProgramFile(home, site.program); // Refused before anything is begun.
  writeSite(home, site);
  try {
    const pid = startConnector(home, name);
    await untilConnected(context, { name, pid }, ({ status, detail }) => {
      if (status !== 'failed') context.output.note(`${status} ${detail}`.trimEnd());
    });
    await untilKnown(context, name);
  } catch (error) {
    await stopConnector(context, name);
    forgetSite(home, name);
    throw error;
  }
  const seen = seeSite(home, readSite(home, name));
  printResult(context.output, {
    json: () => siteJson(seen),
    quiet: () => [name],
    table: () => [`The broker uses site ${name} (${site.ssh}), which it reaches at ${seen.site.address}.`],
  });
  return 0;
}

function readOptions(context: CommandContext, name: string, options: AddOptions): SiteRecord {
  if (!/^[A-Za-z0-9][\w.-]{0,63}$/.test(name))
    throw new MutiraoError(
      'MUT_BAD_REQUEST',
      `the name is ${JSON.stringify(name)}; expected up to 64 letters, digits, "_", "." or "-"`,
    );
  if (!managers.includes(options.manager))
    throw new MutiraoError(
      'MUT_BAD_REQUEST',
      `--manager is "${options.manager}"; expected one of ${managers.join(', ')}`,
    );
  if (options.processors !== undefined && options.manager !== 'embedded')
    throw new MutiraoError('MUT_BAD_REQUEST', `--processors goes with --manager embedded, not with ${options.manager}`);
  return {
    name,
    ssh: options.ssh,
    sshOptions: options.sshOption,
    manager: options.manager,
    processors: options.processors ?? 0,
    providerOptions: findProviderOptions(context, options),
    folder: options.folder,
    setup: options.setup,
    program: options.program === undefined ? '' : resolve(context.directory, options.program),
    address: '',
    isSynced: false,
    addedUnixMs: context.clock.now(),
  };
}

/** The options of a site's provider. Those after "--" come last, and so win. @throws {MutiraoError} MUT_BAD_CONFIG */
export function findProviderOptions(
  { passedOn = [] }: Pick<CommandContext, 'passedOn'>,
  { isolation }: Pick<AddOptions, 'isolation'>,
): readonly string[] {
  if (isolation === undefined) return passedOn;
  readIsolationMode(isolation);
  return ['--isolation', isolation, ...passedOn];
}

async function refuseTaken(context: CommandContext, name: string): Promise<void> {
  const known = findSite(context.home, name);
  if (known !== undefined)
    throw new MutiraoError('MUT_SITE_EXISTS', `there is a site "${name}" already (${known.ssh})`);
  const { providers } = await (await context.broker()).listProviders();
  const provider = providers.find(({ providerId, connected }) => providerId === name && connected);
  if (provider !== undefined)
    throw new MutiraoError('MUT_SITE_EXISTS', `the broker has a provider "${name}" already, at ${provider.address}`);
}

/** The connector adds the provider to the broker; this waits until it has. */
async function untilKnown(context: CommandContext, name: string): Promise<void> {
  const until = context.clock.now() + 15_000;
  for (;;) {
    const { address } = readSite(context.home, name);
    const { providers } = await (await context.broker()).listProviders();
    const provider = providers.find(({ providerId }) => providerId === name);
    if (provider?.address === address && provider.connected) return;
    if (context.clock.now() > until)
      throw new MutiraoError(
        'MUT_UNREACHABLE',
        `the broker does not reach ${name} at ${address}: ${provider?.lastError ?? 'the broker does not know it'}`,
      );
    await context.sleep(50);
  }
}

function count(text: string): number {
  if (!/^[1-9]\d{0,4}$/.test(text)) throw new InvalidArgumentError('Expected an integer from 1 to 65536.');
  return Number(text);
}
