import type { Duration, ProviderId, RequestId } from '@mutirao/core/shared';
import { authorityVariable } from '@mutirao/runtime/identity';

/** What an agent of an allocation must know. */
export interface AgentStart {
  /** Where its provider listens. */
  readonly address: string;
  readonly providerId: ProviderId;
  readonly requestId: RequestId;
  readonly credential: string;
  /** Where Mutirao's files are on the machines of the resource; empty for the agent's own choice. */
  readonly home: string;
  /** The certificate that the provider's is signed by, on one line; empty where it is spoken to without TLS. */
  readonly authority: string;
  /** The agent gives up after this time without its provider; 0 for its own choice. */
  readonly orphanTimeout: Duration;
  /** How the agent keeps tasks apart; empty for its own choice. */
  readonly isolation: string;
}

/**
 * The environment of an allocation's command: the address to dial and the credential. The resource manager adds the
 * index of the process.
 */
export function agentEnvironment({
  address,
  providerId,
  requestId,
  credential,
  home,
  authority,
  orphanTimeout,
  isolation,
}: AgentStart): Record<string, string> {
  return {
    MUTIRAO_AGENT_PROVIDER: address,
    MUTIRAO_AGENT_PROVIDER_ID: providerId,
    MUTIRAO_AGENT_REQUEST: requestId,
    MUTIRAO_CREDENTIAL: credential,
    ...(home === '' ? {} : { MUTIRAO_HOME: home }),
    ...(authority === '' ? {} : { [authorityVariable]: authority }),
    ...(orphanTimeout === 0 ? {} : { MUTIRAO_AGENT_ORPHAN_TIMEOUT: `${orphanTimeout}ms` }),
    ...(isolation === '' ? {} : { MUTIRAO_AGENT_ISOLATION: isolation }),
  };
}
