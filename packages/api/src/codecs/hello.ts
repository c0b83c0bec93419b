import type { Instant, UserId } from '@mutirao/core/shared';

import { MutiraoError } from '../errors/index.ts';
import type { Hello as HelloWire } from '../generated/mutirao/common/v1/common.ts';
import type { ServedUser as ServedUserWire } from '../generated/mutirao/machine/v1/machine.ts';
import { boundList, boundName, boundNumber, decodeProofText } from './common.ts';

/** The version of the stream protocols that this release speaks. */
export const protocolVersion = 1;

/** The first message on a stream, as either side reads it. */
export interface Hello {
  readonly programVersion: string;
  readonly capabilities: readonly string[];
  readonly speakerId: string;
  /** What the speaker's clock shows; undefined where it does not say. */
  readonly sentAt: Instant | undefined;
  readonly resourceId: string | undefined;
  /** Empty where the speaker names none. */
  readonly instance: string;
  /** Empty where the speaker shares no home folder. */
  readonly homeChallenge: string;
}

/**
 * Reads a greeting. @throws {MutiraoError} MUT_PROTOCOL for a version that this release does not speak; MUT_BAD_REQUEST
 */
export function decodeHello(wire: HelloWire | undefined): Hello {
  if (wire?.protocolVersion !== protocolVersion)
    throw new MutiraoError(
      'MUT_PROTOCOL',
      `protocol version is ${wire?.protocolVersion ?? 'missing'}; expected ${protocolVersion}`,
    );
  boundList(wire.capabilities, 'capabilities', 'hello.capabilities');
  for (const capability of wire.capabilities) boundName(capability, 'name', 'hello.capabilities');
  return {
    programVersion: boundName(wire.programVersion, 'name', 'hello.program_version'),
    capabilities: wire.capabilities,
    speakerId: boundName(wire.speakerId, 'name', 'hello.speaker_id'),
    sentAt: wire.sentUnixMs === undefined ? undefined : boundNumber(wire.sentUnixMs, 'instant', 'hello.sent_unix_ms'),
    resourceId: wire.resourceId === undefined ? undefined : boundName(wire.resourceId, 'name', 'hello.resource_id'),
    instance: boundName(wire.instance ?? '', 'name', 'hello.instance'),
    homeChallenge: decodeProofText(wire.homeChallenge ?? '', 'hello.home_challenge'),
  };
}

/** Whose broker places tasks on a machine. */
export interface ServedUser {
  readonly userId: UserId;
  /** The provider is this user's. */
  readonly isOwner: boolean;
}

/** Reads whose broker a machine works for. @throws {MutiraoError} MUT_BAD_REQUEST */
export function decodeServedUser({ userId, isOwner }: ServedUserWire): ServedUser {
  return { userId: boundName(userId, 'name', 'served.user_id'), isOwner };
}
