import { createHmac, timingSafeEqual } from 'node:crypto';
import type { RequestId } from '@mutirao/core/shared';
import { acceptToken, type TokenCheck } from '@mutirao/runtime/rpc';

/** Who an agent is, by the credential that it shows. */
export type AgentOrigin =
  /** It was started by an allocation of this request. */
  | { readonly kind: 'request'; readonly requestId: RequestId }
  /** It runs on a machine of the owner's own. */
  | { readonly kind: 'machine' };

const requestPrefix = 'request:';
const machineUser = 'machine';
/** Between a credential and the agent's own secret; in neither. */
const secretMark = '~';

/**
 * Credentials of agents: one per request, made from the provider's secret, and one for all time-shared machines.
 *
 * Since a request's credential follows from the secret and the request's id, none is stored, and they outlive a restart.
 */
export class AgentCredentials {
  readonly #secret: string;
  readonly #isMachine: TokenCheck;

  /** @param machineToken shown by time-shared machines. */
  constructor(secret: string, machineToken: string) {
    this.#secret = secret;
    this.#isMachine = acceptToken(machineToken, machineUser);
  }

  /** The credential for the agents of one request. */
  of(requestId: RequestId): string {
    return `${requestId}.${this.#sign(requestId).toString('base64url')}`;
  }

  /** Tells an agent's credential, with or without its secret, from a false one. Whether the request still lives is the machine's to say. */
  readonly check: TokenCheck = (shown) => this.#check(shown) ?? this.#check(withoutSecret(shown));

  #check(credential: string): string | undefined {
    const dot = credential.indexOf('.');
    const requestId = credential.slice(0, Math.max(0, dot));
    const signature = this.#sign(requestId);
    const shown = Buffer.from(credential.slice(dot + 1), 'base64url');
    if (dot > 0 && shown.length === signature.length && timingSafeEqual(shown, signature)) return `${requestPrefix}${requestId}`;
    return this.#isMachine(credential);
  }

  #sign(requestId: RequestId): Buffer {
    return createHmac('sha256', this.#secret).update(requestId).digest();
  }
}

function withoutSecret(shown: string): string {
  const mark = shown.lastIndexOf(secretMark);
  return mark < 0 ? shown : shown.slice(0, mark);
}

/** The secret that an agent made itself and shows after its credential; empty where it shows none. */
export function secretOf(shown: string): string {
  const mark = shown.lastIndexOf(secretMark);
  return mark < 0 ? '' : shown.slice(mark + 1);
}

/** What `AgentCredentials.check` said of a caller. */
export function originOf(userId: string): AgentOrigin {
  return userId.startsWith(requestPrefix) ? { kind: 'request', requestId: userId.slice(requestPrefix.length) } : { kind: 'machine' };
}
