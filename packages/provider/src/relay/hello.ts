import { decodeHello, decodeMessage, outputCapability, protocolVersion, type Hello } from '@mutirao/api/codecs';
import { MutiraoError } from '@mutirao/api/errors';
import { ConnectRequest } from '@mutirao/api/provider';
import type { BrokerId } from '@mutirao/core/machines/provider';
import type { MachineFacts } from '@mutirao/core/messages';
import type { Instant, UserId } from '@mutirao/core/shared';

const programVersion = '0.1.0';
/** Of an agent: its machine can be a member of a gang. Of a provider: it passes on what that needs. */
const gangCapability = 'gang';
/**
 * What others may say beyond what every release knows: a broker may lease tasks, take some of them back and ask for what
 * a task has written, and transfers of outputs may leave out what is stored already.
 */
const capabilities = ['lease', 'lease-revocation', 'offset', 'resource', gangCapability, outputCapability];

/** A greeting as it travels. */
export interface HelloWire {
  readonly protocolVersion: number;
  readonly programVersion: string;
  readonly capabilities: string[];
  readonly speakerId: string;
  readonly sentUnixMs: number;
  readonly resourceId: string | undefined;
}

/**
 * What this process says first on each stream. @param sentUnixMs what its clock shows. @param resourceId what its
 * resource is called at its reservation manager.
 */
export function ownHello(speakerId: string, sentUnixMs: Instant, resourceId: string | undefined): HelloWire {
  return { protocolVersion, programVersion, capabilities: [...capabilities], speakerId, sentUnixMs, resourceId };
}

/** What a machine's facts say of gangs, by what its agent said that it can. */
export function takesGangs({ capabilities: said }: Pick<Hello, 'capabilities'>): Pick<MachineFacts, 'takesGangs'> {
  return said.includes(gangCapability) ? { takesGangs: true } : {};
}

/** The only user of a machine that serves its owner alone, whatever name its agent gives. */
export function findOnlyUser(
  { onlyUser }: Pick<MachineFacts, 'onlyUser'>,
  ownerId: UserId,
): Pick<MachineFacts, 'onlyUser'> {
  return onlyUser === undefined ? {} : { onlyUser: ownerId };
}

/** Who a broker says it is. */
export interface BrokerHello {
  readonly name: BrokerId;
  /** The journal that it speaks for; empty where it names none. */
  readonly instance: string;
  /** Whether it takes the status of reservations. */
  readonly takesStatuses: boolean;
  /** Whether it takes the status of the resource. */
  readonly takesResource: boolean;
}

/** Reads the first message of a broker. @throws {MutiraoError} MUT_PROTOCOL or MUT_BAD_REQUEST */
export function readBrokerHello(bytes: Uint8Array): BrokerHello {
  const { message } = decodeMessage(ConnectRequest, bytes);
  if (message?.$case !== 'hello')
    throw new MutiraoError('MUT_PROTOCOL', `first message is ${message?.$case ?? 'empty'}; expected hello`);
  const { speakerId, instance, capabilities: said } = decodeHello(message.value);
  if (!/^[\w.-]{1,64}$/.test(speakerId))
    throw new MutiraoError(
      'MUT_BAD_REQUEST',
      `broker id is "${speakerId}"; expected up to 64 letters, digits, "_", "." or "-"`,
    );
  if (!/^[\w.-]{0,64}$/.test(instance))
    throw new MutiraoError(
      'MUT_BAD_REQUEST',
      `broker instance is "${instance}"; expected up to 64 letters, digits, "_", "." or "-"`,
    );
  return {
    name: speakerId,
    instance,
    takesStatuses: said.includes('statuses'),
    takesResource: said.includes('resource'),
  };
}
