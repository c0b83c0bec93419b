import { join } from 'node:path';
import type { ProviderId } from '@mutirao/core/shared';
import { systemClock, systemTimers } from '@mutirao/runtime/driver';
import { identityFolder, onOneLine, readHostIdentity } from '@mutirao/runtime/identity';
import type { Logger } from '@mutirao/runtime/log';
import { nearAddress, parseAddress } from '@mutirao/runtime/rpc';
import { carryProgram, findProgramFile } from '@mutirao/runtime/ssh';
import type { RunningProvider } from '../start-provider.ts';
import { EnrolledMachines, type MachineLife } from './enrolled-machines.ts';
import { readMachineRecord, writeMachineRecord } from './machine-record.ts';
import { SshLife } from './ssh-life.ts';
import { TemplateLife, type AgentPlace } from './template-life.ts';

/**
 * The keeper of a provider's time-shared machines, with the list of its folder. @throws {MutiraoError} MUT_BAD_CONFIG
 */
export function openEnrolled(directory: string, log: Logger): EnrolledMachines {
  const path = join(directory, 'machines.json');
  return new EnrolledMachines({
    clock: systemClock,
    timers: systemTimers,
    log,
    machines: readMachineRecord(path),
    save: (machines) => {
      writeMachineRecord(path, machines);
    },
  });
}

/** What keeping needs of the process. */
export interface KeepingPlace {
  readonly provider: Pick<RunningProvider, 'agentsAddress' | 'invite' | 'state'>;
  readonly providerId: ProviderId;
  readonly directory: string;
  readonly home: string;
  /** The agent's program and its first arguments. */
  readonly agentCommand: readonly string[];
}

/** Has agents work for the machines of the list. @returns what ends them all. */
export function startKeeping(
  enrolled: EnrolledMachines,
  { provider, providerId, directory, home, agentCommand }: KeepingPlace,
): () => Promise<void> {
  const address = nearAddress(provider.agentsAddress);
  const authority = parseAddress(address).isTls ? onOneLine(readHostIdentity(identityFolder(home)).authority) : '';
  const place: AgentPlace = { providerId, address, invite: (name) => provider.invite(name), authority };
  const templates = new TemplateLife({ ...place, agentCommand, home, logFolder: join(directory, 'machines') });
  const ssh = new SshLife({
    ...place,
    controlFolder: join(directory, 'ssh'),
    carry: async (connection) => [await carryProgram(connection, await findProgramFile(home, ''))],
  });
  const life: MachineLife = {
    run: (machine, ending) => (machine.reach.kind === 'ssh' ? ssh : templates).run(machine, ending),
  };
  enrolled.start({
    life,
    isAttached: (name) => {
      const machine = provider.state.machines.get(`${providerId}/${name}`);
      return machine !== undefined && machine.attachmentId !== 0;
    },
  });
  return async () => {
    await enrolled.stop();
    templates.close();
  };
}
