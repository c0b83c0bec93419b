import { InvalidArgumentError, type Command } from 'commander';

import { encodeEnrolledMachine } from '@mutirao/api/codecs';

import type { Act, CommandContext } from '../../context.ts';
import type { ExitStatus } from '../../exit-status.ts';
import { resolveProviderAddress } from '../../selectors.ts';
import { collect } from '../../usage/repeated-options.ts';
import { reportKept } from './kept.ts';
import { readMachines, type MachineOptions } from './read-machines.ts';

interface AddOptions extends MachineOptions {
  readonly provider: string;
}

export function define(command: Command, act: Act): void {
  command
    .option('--ssh <user@host>', 'a machine that ssh reaches without asking; an agent is started there')
    .option('--file <file>', 'the machines of a list: SDF or GDF')
    .option('--name <name>', 'its name in the grid; that of --ssh when left out')
    .option('--processors <count>', 'processors to use; all when left out', count)
    .option('--attribute <name=value>', 'what requirements may ask for; may be given several times', collect, [])
    .option(
      '--ssh-option <option>',
      'KEY=VALUE as of ssh -o, or a flag with its value in one word; may be given several times',
      collect,
      [],
    )
    .option('--remote-command <program>', 'how mutirao is called on the machine; it is carried over when left out')
    .option('--folder <folder>', "where files go on the machine; .mutirao of the login's home when left out")
    .option('--by <way>', 'ssh or templates, for machines of a file that could be reached in both ways')
    .option('--provider <name>', 'the provider that is to keep them', 'lab')
    .action((options: AddOptions) => act((context) => addMachines(context, options)));
}

/** Has a provider keep further machines: all of them or none. */
export async function addMachines(context: CommandContext, options: AddOptions): Promise<ExitStatus> {
  const machines = readMachines(options, context.directory, (line) => {
    context.output.note(line);
  });
  const { providerId, address } = await resolveProviderAddress(context, options.provider);
  const provider = await context.provider(address);
  await provider.addMachines({ machines: machines.map(encodeEnrolledMachine) });
  const names = new Set(machines.map(({ name }) => name));
  const kept = (await provider.listEnrolledMachines()).machines.filter(({ machine }) => names.has(machine?.name ?? ''));
  reportKept(context, providerId, kept);
  return 0;
}

function count(text: string): number {
  if (!/^[1-9]\d{0,3}$/.test(text)) throw new InvalidArgumentError('Want an integer from 1 to 4096.');
  return Number(text);
}
