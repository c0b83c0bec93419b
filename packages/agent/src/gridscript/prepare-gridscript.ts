import path from 'node:path';
import { MutiraoError } from '@mutirao/api/errors';
import type { AgentInput } from '@mutirao/core/machines/agent';
import type { MachineFacts } from '@mutirao/core/messages';
import type { ResourceCapacity } from '@mutirao/core/resources';
import type { Bytes, Duration } from '@mutirao/core/shared';
import type { Logger } from '@mutirao/runtime/log';
import { readStatedOf } from '../capacity/prepare-host.ts';
import { describeMachine, type FactsOptions } from '../machine-facts.ts';
import type { Workplace } from '../workplace.ts';
import { GridScriptWorkplace } from './gridscript-workplace.ts';
import { openRemoteMachine } from './remote-machine.ts';
import type { TemplateTexts } from './templates.ts';

/** Options of an agent for a machine that it drives by templates. */
export interface GridScriptConfig extends TemplateTexts, Omit<FactsOptions, 'attributes'> {
  /** What `$machine` stands for. */
  readonly machine: string;
  /** Where our folder goes there; empty for `.mutirao` of the login's home. */
  readonly remoteFolder: string;
  readonly templateDeadline: Duration;
  readonly attribute: readonly string[];
  readonly memory: Bytes;
  readonly gpus: string;
  readonly resource: readonly string[];
  readonly storage: Bytes;
}

/** A machine that was reached, ready for an agent. */
export interface PreparedGridScript {
  readonly facts: MachineFacts;
  openWorkplace(deliver: (input: AgentInput) => void): Promise<Workplace>;
}

/** What preparing needs. */
export interface GridScriptPlaces {
  /** A folder of this host for one machine's name, claimed for this process. */
  getFolder(machineId: string): string;
  readonly log: Logger;
  /** The machine does not answer any more. */
  onUnreachable(error: MutiraoError): void;
}

/** The attributes that are stated: no agent detects them on that host. @param memory in MiB, where it was found. */
async function readCapacity(config: GridScriptConfig, memory = 0): Promise<ResourceCapacity> {
  const stated = await readStatedOf(config);
  return {
    memory: stated.memory > 0 ? stated.memory : memory * 2 ** 20,
    gpus: stated.gpus?.devices ?? [],
    named: stated.named,
  };
}

/** Reaches a machine and says what it is. @throws {MutiraoError} MUT_BAD_CONFIG, MUT_TEMPLATE_FAILED */
export async function prepareGridScript(
  config: GridScriptConfig,
  places: GridScriptPlaces,
): Promise<PreparedGridScript> {
  const { remExec, copyTo, copyFrom, machine, remoteFolder, templateDeadline: deadline } = config;
  if (machine === '') throw new MutiraoError('MUT_BAD_CONFIG', '--machine is empty; expected what $machine stands for');
  if (remExec === '' || copyTo === '' || copyFrom === '')
    throw new MutiraoError('MUT_BAD_CONFIG', 'expected all of --rem-exec, --copy-to and --copy-from, or none');
  const name = (config.machineId === '' ? machine : config.machineId).replaceAll(/[^\w.@-]/g, '_');
  const machineId = config.machineId === '' ? name : config.machineId;
  const folder = places.getFolder(machineId);
  const remote = await openRemoteMachine({
    texts: { remExec, copyTo, copyFrom },
    machine,
    deadline,
    folder: path.join(folder, 'templates'),
    remoteFolder:
      remoteFolder === '' ? `.mutirao/machines/${name}` : `${remoteFolder.replace(/(?<=.)\/+$/, '')}/mutirao-${name}`,
  });
  const capacity = await readCapacity(config, remote.found.memory);
  const options = { ...config, machineId, attributes: config.attribute, capacity };
  const facts = describeMachine(options, process.env, remote.found);
  return {
    facts,
    openWorkplace: (deliver) =>
      GridScriptWorkplace.open(
        {
          machine: remote,
          machineId: facts.machineId,
          attributes: facts.attributes,
          capacity,
          folder,
          contentBytesMax: config.storage,
          log: places.log,
          onUnreachable: (error) => {
            places.onUnreachable(error);
          },
        },
        deliver,
      ),
  };
}
