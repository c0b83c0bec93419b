import type { KeptMachine, KeptMachineState, MachineReach } from '@mutirao/core/messages';

import {
  KeptMachineStatus,
  type KeptMachine as KeptMachineWire,
  type KeptMachineState as KeptMachineStateWire,
} from '../generated/mutirao/provider/v1/provider.ts';
import { badRequest } from './common.ts';

const processorsMax = 4096;
const textMax = 4096;
const statusesOfWire: readonly (KeptMachineState['status'] | undefined)[] = [
  undefined,
  'starting',
  'running',
  'waiting',
];
const wireOfStatuses: Readonly<Record<KeptMachineState['status'], KeptMachineStatus>> = {
  starting: KeptMachineStatus.STARTING,
  running: KeptMachineStatus.RUNNING,
  waiting: KeptMachineStatus.WAITING,
};

/** Reads a machine that a provider is to keep. @throws {MutiraoError} MUT_BAD_REQUEST for what can be no machine. */
export function decodeKeptMachine(wire: KeptMachineWire): KeptMachine {
  const { name, processors, folder, attributes } = wire;
  if (!/^[A-Za-z0-9_][\w.@-]{0,63}$/.test(name))
    throw badRequest(`machine name is ${JSON.stringify(name)}; want up to 64 letters, digits, ".", "_", "@" and "-"`);
  if (processors > processorsMax)
    throw badRequest(`processors of ${name} is ${processors}; want at most ${processorsMax}`);
  const texts = [folder, ...Object.values(attributes)];
  if (texts.some(isNoArgument))
    throw badRequest(`machine ${name} has a text with a NUL or of more than ${textMax} bytes`);
  const badName = Object.keys(attributes).find((key) => !/^[^\s=\0-\x1f]{1,64}$/.test(key));
  if (badName !== undefined)
    throw badRequest(`attribute of ${name} is ${JSON.stringify(badName)}; want a name without spaces and "="`);
  const empty = Object.entries(attributes).find(([, value]) => value.trim() === '');
  if (empty !== undefined) throw badRequest(`attribute ${empty[0]} of ${name} is empty; want a value`);
  return { name, reach: decodeReach(name, wire.reach), processors, folder, attributes };
}

function decodeReach(name: string, reach: KeptMachineWire['reach']): MachineReach {
  if (reach === undefined) throw badRequest(`machine ${name} says nothing of how it is reached; want ssh or templates`);
  if (reach.$case === 'ssh') {
    const { destination, options, program } = reach.value;
    if (!/^[^\s-]\S*$/.test(destination))
      throw badRequest(
        `ssh destination of ${name} is ${JSON.stringify(destination)}; want user@host, or a name of ~/.ssh/config`,
      );
    if ([destination, ...options, ...program].some(isNoArgument))
      throw badRequest(`machine ${name} has a word with a NUL or of more than ${textMax} bytes`);
    return { kind: 'ssh', destination, options, program };
  }
  const { machine, remExec, copyTo, copyFrom } = reach.value;
  if ([machine, remExec, copyTo, copyFrom].some((text) => text.trim() === '' || isNoArgument(text))) {
    throw badRequest(`machine ${name} lacks what $machine stands for or one of its templates; want all of them`);
  }
  return { kind: 'templates', machine, remExec, copyTo, copyFrom };
}

function isNoArgument(text: string): boolean {
  return text.includes('\0') || Buffer.byteLength(text) > textMax;
}

/** Writes a machine that a provider is to keep for the wire. */
export function encodeKeptMachine({ name, reach, processors, folder, attributes }: KeptMachine): KeptMachineWire {
  return { name, processors, folder, attributes: { ...attributes }, reach: encodeReach(reach) };
}

function encodeReach(reach: MachineReach): NonNullable<KeptMachineWire['reach']> {
  if (reach.kind === 'ssh')
    return {
      $case: 'ssh',
      value: { destination: reach.destination, options: [...reach.options], program: [...reach.program] },
    };
  const { machine, remExec, copyTo, copyFrom } = reach;
  return { $case: 'templates', value: { machine, remExec, copyTo, copyFrom } };
}

/** Reads how a kept machine is. @throws {MutiraoError} MUT_BAD_REQUEST */
export function decodeKeptMachineState({
  machine,
  status,
  reason,
  sinceUnixMs,
}: KeptMachineStateWire): KeptMachineState {
  const known = statusesOfWire[status];
  if (machine === undefined || known === undefined)
    throw badRequest(
      `a kept machine has ${machine === undefined ? 'no machine' : `status ${String(status)}`}; want a machine ` +
        `and a status from 1 to ${statusesOfWire.length - 1}`,
    );
  return { machine: decodeKeptMachine(machine), status: known, reason, since: sinceUnixMs };
}

/** Writes how a kept machine is for the wire. */
export function encodeKeptMachineState({ machine, status, reason, since }: KeptMachineState): KeptMachineStateWire {
  return { machine: encodeKeptMachine(machine), status: wireOfStatuses[status], reason, sinceUnixMs: since };
}
