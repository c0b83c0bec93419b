import { resolve } from 'node:path';

import { MutiraoError } from '@mutirao/api/errors';
import type { EnrolledMachine, MachineReach } from '@mutirao/core/messages';
import { parseGpuDevices, parseMachineList, parseNamedResource, parseSize, type ListedMachine } from '@mutirao/formats';

import { readText } from '../job/job-file.ts';

/** How machines are reached, and what applies to all of them. */
export interface MachineOptions {
  readonly file?: string;
  readonly ssh?: string;
  readonly sshOption: readonly string[];
  readonly remoteCommand?: string;
  readonly by?: string;
  readonly name?: string;
  readonly processors?: number;
  readonly folder?: string;
  readonly attribute: readonly string[];
  readonly memory?: string;
  readonly gpus?: string;
  readonly resource?: readonly string[];
}

/**
 * The machines that a command line names: one, or those of a file.
 *
 * @param warn gets each thing in the file that was understood but is suspicious.
 * @throws {MutiraoError} MUT_BAD_REQUEST; {FormatError} naming file, line and column.
 */
export function readMachines(
  options: MachineOptions,
  directory: string,
  warn: (line: string) => void,
): EnrolledMachine[] {
  const { file, ssh, by } = options;
  if ((file === undefined) === (ssh === undefined))
    throw new MutiraoError(
      'MUT_BAD_REQUEST',
      `found ${file === undefined ? 'neither --file nor --ssh' : 'both --file and --ssh'}; expected one of them`,
    );
  if (by !== undefined && by !== 'ssh' && by !== 'templates')
    throw new MutiraoError('MUT_BAD_REQUEST', `--by is "${by}"; expected ssh or templates`);
  return file === undefined ? [oneMachine(ssh ?? '', options)] : readList(file, options, { directory, warn });
}

function readList(
  file: string,
  options: MachineOptions,
  { directory, warn }: { readonly directory: string; readonly warn: (line: string) => void },
): EnrolledMachine[] {
  if (options.name !== undefined)
    throw new MutiraoError('MUT_BAD_REQUEST', '--name is for --ssh; the machines of a file have names of their own');
  const list = parseMachineList(readText(resolve(directory, file)), file);
  for (const { line, column, message } of list.warnings) warn(`warning: ${file}:${line}:${column}: ${message}`);
  if (list.peers.length > 0) {
    throw new MutiraoError(
      'MUT_BAD_REQUEST',
      `${file} is a list of ${list.peers.length} peers, each a whole site and no machine; expected workers (SDF) or ` +
        'grid machines (GDF)',
    );
  }
  if (list.machines.length === 0) throw new MutiraoError('MUT_BAD_REQUEST', `${file} lists no machines`);
  return list.machines.map((machine) => listedMachine(file, machine, options));
}

function oneMachine(destination: string, options: MachineOptions): EnrolledMachine {
  if (options.by === 'templates')
    throw new MutiraoError('MUT_BAD_REQUEST', '--by templates needs the templates of a --file');
  if (!/^[^\s-]\S*$/.test(destination))
    throw new MutiraoError(
      'MUT_BAD_REQUEST',
      `--ssh is "${destination}"; expected user@host, or a name of ~/.ssh/config`,
    );
  const name = options.name ?? destination.replaceAll(/[^\w.@-]/g, '_').slice(0, 64);
  return {
    name,
    reach: sshReach(destination, options.sshOption, options),
    processors: options.processors ?? 0,
    folder: options.folder ?? '',
    attributes: getAttributes(options.attribute),
    ...getStated(options),
  };
}

function listedMachine(file: string, machine: ListedMachine, options: MachineOptions): EnrolledMachine {
  const { name } = machine;
  return {
    name,
    reach: listedReach(file, machine, options),
    processors: options.processors ?? machine.processors,
    folder: options.folder ?? machine.folder,
    attributes: { ...machine.attributes, ...getAttributes(options.attribute) },
    ...getStated(options),
  };
}

/**
 * What says no type, or that nothing may run there, is driven by its templates; MyGrid used those of other types to
 * bring its agent over.
 */
function listedReach(
  file: string,
  { name, host, user, gateway, templates, line, column, type }: ListedMachine,
  options: MachineOptions,
): MachineReach {
  const destination = user === '' ? host : `${user}@${host}`;
  const wanted = options.by ?? (templates !== undefined && ['', 'gridscript'].includes(type) ? 'templates' : 'ssh');
  if (wanted === 'ssh')
    return sshReach(destination, [...options.sshOption, ...(gateway === '' ? [] : [`-J${gateway}`])], options);
  if (templates === undefined)
    throw new MutiraoError(
      'MUT_BAD_REQUEST',
      `${file}:${line}:${column}: ${name} has no templates; expected "remExec:", "copyTo:" and "copyFrom:" for --by ` +
        'templates',
    );
  return { kind: 'templates', machine: destination, ...templates };
}

function sshReach(
  destination: string,
  options: readonly string[],
  { remoteCommand = '' }: MachineOptions,
): MachineReach {
  return { kind: 'ssh', destination, options, program: remoteCommand.split(/\s+/).filter((word) => word !== '') };
}

/** What the owner states of memory, GPUs and counted resources. @throws {FormatError} for texts that say none. */
function getStated({
  memory,
  gpus,
  resource = [],
}: MachineOptions): Pick<EnrolledMachine, 'memory' | 'gpus' | 'resources'> {
  if (gpus !== undefined) parseGpuDevices(gpus);
  for (const text of resource) parseNamedResource(text);
  return {
    ...(memory === undefined ? {} : { memory: parseSize(memory) }),
    ...(gpus === undefined ? {} : { gpus }),
    ...(resource.length === 0 ? {} : { resources: resource }),
  };
}

function getAttributes(stated: readonly string[]): Record<string, string> {
  const attributes: Record<string, string> = {};
  for (const text of stated) {
    const [, name = '', value = ''] = /^([^=\s]+)=(.+)$/s.exec(text) ?? [];
    if (name === '') throw new MutiraoError('MUT_BAD_REQUEST', `--attribute is "${text}"; expected NAME=VALUE`);
    const key = name.toLowerCase();
    if (Object.hasOwn(attributes, key))
      throw new MutiraoError(
        'MUT_BAD_REQUEST',
        `--attribute ${key} is given twice, as "${attributes[key] ?? ''}" and "${value}"; expected it once`,
      );
    attributes[key] = value;
  }
  return attributes;
}
