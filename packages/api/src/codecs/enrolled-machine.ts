import type { EnrolledMachine, EnrolledMachineState, MachineReach } from '@mutirao/core/messages';

import {
  EnrolledMachineStatus,
  type EnrolledMachine as EnrolledMachineWire,
  type EnrolledMachineState as EnrolledMachineStateWire,
} from '../generated/mutirao/provider/v1/provider.ts';
import { badRequest, boundList, boundNumber } from './common.ts';

const processorsMax = 4096;
const textMax = 4096;
const statusesOfWire: readonly (EnrolledMachineState['status'] | undefined)[] = [
  undefined,
  'starting',
  'running',
  'waiting',
];
const wireOfStatuses: Readonly<Record<EnrolledMachineState['status'], EnrolledMachineStatus>> = {
  starting: EnrolledMachineStatus.STARTING,
  running: EnrolledMachineStatus.RUNNING,
  waiting: EnrolledMachineStatus.WAITING,
};

/** Reads a machine to enroll at a provider. @throws {MutiraoError} MUT_BAD_REQUEST for an invalid one. */
export function decodeEnrolledMachine(wire: EnrolledMachineWire): EnrolledMachine {
  const { name, processors, folder, attributes } = wire;
  if (!/^[A-Za-z0-9_][\w.@-]{0,63}$/.test(name))
    throw badRequest(
      `machine name is ${JSON.stringify(name)}; expected up to 64 letters, digits, ".", "_", "@" and "-"`,
    );
  if (processors > processorsMax)
    throw badRequest(`processors of ${name} is ${processors}; expected at most ${processorsMax}`);
  const texts = [folder, wire.gpus ?? '', ...wire.resources, ...Object.values(attributes)];
  if (texts.some(isNoArgument))
    throw badRequest(`machine ${name} has a text with a NUL or of more than ${textMax} bytes`);
  const badName = Object.keys(attributes).find((key) => !/^[^\s=\0-\x1f]{1,64}$/.test(key));
  if (badName !== undefined)
    throw badRequest(`attribute of ${name} is ${JSON.stringify(badName)}; expected a name without spaces and "="`);
  const empty = Object.entries(attributes).find(([, value]) => value.trim() === '');
  if (empty !== undefined) throw badRequest(`attribute ${empty[0]} of ${name} is empty; expected a value`);
  return { name, reach: decodeReach(name, wire.reach), processors, folder, attributes, ...decodeStated(wire) };
}

function decodeStated({
  memoryBytes,
  gpus = '',
  resources,
}: EnrolledMachineWire): Pick<EnrolledMachine, 'memory' | 'gpus' | 'resources'> {
  boundList(resources, 'namedResources', 'resources');
  return {
    ...(memoryBytes === undefined ? {} : { memory: boundNumber(memoryBytes, 'memory', 'memory_bytes') }),
    ...(gpus === '' ? {} : { gpus }),
    ...(resources.length === 0 ? {} : { resources }),
  };
}

function decodeReach(name: string, reach: EnrolledMachineWire['reach']): MachineReach {
  if (reach === undefined)
    throw badRequest(`machine ${name} says nothing of how it is reached; expected ssh or templates`);
  if (reach.$case === 'ssh') {
    const { destination, options, program } = reach.value;
    if (!/^[^\s-]\S*$/.test(destination))
      throw badRequest(
        `ssh destination of ${name} is ${JSON.stringify(destination)}; expected user@host, or a name of ~/.ssh/config`,
      );
    if ([destination, ...options, ...program].some(isNoArgument))
      throw badRequest(`machine ${name} has a word with a NUL or of more than ${textMax} bytes`);
    return { kind: 'ssh', destination, options, program };
  }
  const { machine, remExec, copyTo, copyFrom } = reach.value;
  if ([machine, remExec, copyTo, copyFrom].some((text) => text.trim() === '' || isNoArgument(text))) {
    throw badRequest(`machine ${name} lacks what $machine stands for or one of its templates; expected all of them`);
  }
  return { kind: 'templates', machine, remExec, copyTo, copyFrom };
}

function isNoArgument(text: string): boolean {
  return text.includes('\0') || Buffer.byteLength(text) > textMax;
}

/** Encodes an enrolled machine. */
export function encodeEnrolledMachine({
  name,
  reach,
  processors,
  folder,
  attributes,
  memory,
  gpus,
  resources = [],
}: EnrolledMachine): EnrolledMachineWire {
  return {
    name,
    processors,
    folder,
    attributes: { ...attributes },
    reach: encodeReach(reach),
    resources: [...resources],
    ...(memory === undefined ? {} : { memoryBytes: memory }),
    ...(gpus === undefined ? {} : { gpus }),
  };
}

function encodeReach(reach: MachineReach): NonNullable<EnrolledMachineWire['reach']> {
  if (reach.kind === 'ssh')
    return {
      $case: 'ssh',
      value: { destination: reach.destination, options: [...reach.options], program: [...reach.program] },
    };
  const { machine, remExec, copyTo, copyFrom } = reach;
  return { $case: 'templates', value: { machine, remExec, copyTo, copyFrom } };
}

/** Reads how a kept machine is. @throws {MutiraoError} MUT_BAD_REQUEST */
export function decodeEnrolledMachineState({
  machine,
  status,
  reason,
  sinceUnixMs,
}: EnrolledMachineStateWire): EnrolledMachineState {
  const known = statusesOfWire[status];
  if (machine === undefined || known === undefined)
    throw badRequest(
      `a kept machine has ${machine === undefined ? 'no machine' : `status ${String(status)}`}; expected a machine ` +
        `and a status from 1 to ${statusesOfWire.length - 1}`,
    );
  return { machine: decodeEnrolledMachine(machine), status: known, reason, since: sinceUnixMs };
}

/** Writes how a kept machine is for the wire. */
export function encodeEnrolledMachineState({
  machine,
  status,
  reason,
  since,
}: EnrolledMachineState): EnrolledMachineStateWire {
  return { machine: encodeEnrolledMachine(machine), status: wireOfStatuses[status], reason, sinceUnixMs: since };
}
