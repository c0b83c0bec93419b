import { createHmac, timingSafeEqual } from 'node:crypto';
import type { RequestId } from '@mutirao/core/shared';
import type { TokenCheck } from '@mutirao/runtime/rpc';
import type { MachineCredentials } from './machines/machine-credentials.ts';

/** Who an agent is, by the credential that it shows. */
export type AgentOrigin =
  /** It was started by an allocation of this request. */
  | { readonly kind: 'request'; readonly requestId: RequestId }
  /** It runs on a machine of the owner's own, which has this name at the provider. */
  | {
      readonly kind: 'machine';
      readonly name: string /** It shows an invitation, to be exchanged when it attaches. */;
      readonly isInvited: boolean;
    };

const requestPrefix = 'request:';
const machinePrefix = 'machine:';
const invitedPrefix = 'invited:';
/** Between a credential and the agent's own secret; in neither. */
const secretMark = '~';

/**
 * Credentials of agents: one per request, made from the provider's secret, and one for each machine that was invited.
 *
 * Since a request's credential follows from the secret and the request's id, none is stored, and they outlive a
 * restart.
 */
export class AgentCredentials {
  readonly #secret: string;
  readonly #machines: Pick<MachineCredentials, 'recognise'>;

  /** @param machines knows the machines that no request gives. */
  constructor(secret: string, machines: Pick<MachineCredentials, 'recognise'>) {
    this.#secret = secret;
    this.#machines = machines;
  }

  /** The credential for the agents of one request. */
  of(requestId: RequestId): string {
    return `${requestId}.${this.#sign(requestId).toString('base64url')}`;
  }

  /**
   * Says whose credential an agent shows, with or without the agent's own secret after it. Whether the request still
   * lives is for the provider's machine to say.
   *
   * @throws {MutiraoError} with the reason, for an invitation that is not good any more and for the credential of a
   * machine that was removed.
   */
  readonly check: TokenCheck = (shown) => {
    const requestId = this.#findRequest(shown) ?? this.#findRequest(withoutSecret(shown));
    if (requestId !== undefined) return `${requestPrefix}${requestId}`;
    const holder = this.#machines.recognise(withoutSecret(shown), getSecret(shown));
    return holder === undefined ? undefined : `${holder.isInvited ? invitedPrefix : machinePrefix}${holder.name}`;
  };

  #findRequest(credential: string): RequestId | undefined {
    const dot = credential.indexOf('.');
    const requestId = credential.slice(0, Math.max(0, dot));
    const signature = this.#sign(requestId);
    const shown = Buffer.from(credential.slice(dot + 1), 'base64url');
    return dot > 0 && shown.length === signature.length && timingSafeEqual(shown, signature) ? requestId : undefined;
  }

  #sign(requestId: RequestId): Buffer {
    return createHmac('sha256', this.#secret).update(requestId).digest();
  }
}

/** What an agent was given: all before its own secret. */
export function withoutSecret(shown: string): string {
  const mark = shown.lastIndexOf(secretMark);
  return mark < 0 ? shown : shown.slice(0, mark);
}

/** The secret that an agent made itself and shows after its credential; empty where it shows none. */
export function getSecret(shown: string): string {
  const mark = shown.lastIndexOf(secretMark);
  return mark < 0 ? '' : shown.slice(mark + 1);
}

/** What `AgentCredentials.check` said of a caller. */
export function getOrigin(userId: string): AgentOrigin {
  if (userId.startsWith(requestPrefix)) return { kind: 'request', requestId: userId.slice(requestPrefix.length) };
  const isInvited = userId.startsWith(invitedPrefix);
  return { kind: 'machine', name: userId.slice((isInvited ? invitedPrefix : machinePrefix).length), isInvited };
}
