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
    .optionsGroup('The machine:')
    .option('--ssh <user@host>', 'add a machine that ssh reaches without a password, and start an agent there')
    .option('--file <file>', 'add the machines listed in an SDF or GDF file')
    .option('--name <name>', 'name of the machine in the grid (default: the host of --ssh)')
    .option('--processors <count>', 'processors to use (default: all)', count)
    .option('--memory <size>', 'memory that tasks may use together, for example 8G (default: what is found)')
    .option(
      '--gpus <gpus>',
      'GPUs to use: how many, of which kind (2:a100), or their ids (0,3) (default: what is found)',
    )
    .option('--resource <name=count>', 'a counted resource, for example licence=2; may be repeated', collect, [])
    .option(
      '--attribute <name=value>',
      'an attribute that job requirements can test, for example gpu=2; may be repeated',
      collect,
      [],
    )
    .optionsGroup('How to reach it:')
    .option(
      '--ssh-option <option>',
      'an option for ssh: KEY=VALUE, or a flag with its value such as -p2222; may be repeated',
      collect,
      [],
    )
    .option(
      '--remote-command <program>',
      'command that starts mutirao on the machine (default: the program is copied there)',
    )
    .option('--folder <folder>', "folder for our files on the machine (default: .mutirao in the user's home folder)")
    .option('--by <way>', 'how to reach machines of --file that allow both ways: ssh or templates')
    .option('--provider <name>', 'the provider that will run the agents', 'lab')
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
  if (!/^[1-9]\d{0,3}$/.test(text)) throw new InvalidArgumentError('Expected an integer from 1 to 4096.');
  return Number(text);
}
