import type { ProviderId, RequestId } from '@mutirao/core/shared';

/** What an agent of an allocation must know. */
export interface AgentStart {
  /** Where its provider listens. */
  readonly address: string;
  readonly providerId: ProviderId;
  readonly requestId: RequestId;
  readonly credential: string;
  /** Where Mutirao's files are on the machines of the resource; empty for the agent's own choice. */
  readonly home: string;
}

/**
 * The environment of an allocation's command: whom to dial and with which credential. The resource manager adds the index of
 * the process.
 */
export function agentEnvironment({ address, providerId, requestId, credential, home }: AgentStart): Record<string, string> {
  return {
    MUTIRAO_AGENT_PROVIDER: address,
    MUTIRAO_AGENT_PROVIDER_ID: providerId,
    MUTIRAO_AGENT_REQUEST: requestId,
    MUTIRAO_CREDENTIAL: credential,
    ...(home === '' ? {} : { MUTIRAO_HOME: home }),
  };
}
