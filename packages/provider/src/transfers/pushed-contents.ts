import { encodeContent } from '@mutirao/api/codecs';
import type { Content } from '@mutirao/core/messages';
import type { MachineId } from '@mutirao/core/shared';
import { pushedFrame } from '../standby/spool-delivery.ts';
import type { AgentLink, BrokerLink } from '../relay/links.ts';

/** A content that an agent pushes to its broker. */
interface Push {
  readonly transferId: string;
  readonly content: Content;
  /** Ends its wait for the broker. */
  readonly diversion: AbortController;
  /** The stream that last received it: a repeat would be fetched twice, and nobody gives it the second time. */
  reportedTo: BrokerLink | undefined;
}

/** A push that was announced. */
export interface AnnouncedPush {
  /** Aborted when the broker is away and the content must be kept instead. */
  readonly diverted: AbortSignal;
  /** The push is over. */
  forget(): void;
}

/** Announces the contents that agents push to their brokers; again when another stream of the broker takes over. */
export class PushedContents {
  readonly #byMachine = new Map<MachineId, Set<Push>>();

  /** Announces a push to the agent's broker. */
  announce(
    agent: AgentLink,
    { transferId, content }: { readonly transferId: string; readonly content: Content },
  ): AnnouncedPush {
    const { machineId } = agent.identity;
    const waiting = this.#byMachine.get(machineId) ?? new Set();
    this.#byMachine.set(machineId, waiting);
    const push: Push = { transferId, content, diversion: new AbortController(), reportedTo: undefined };
    waiting.add(push);
    report(agent, push);
    return {
      diverted: push.diversion.signal,
      forget: () => {
        waiting.delete(push);
        if (waiting.size === 0 && this.#byMachine.get(machineId) === waiting) this.#byMachine.delete(machineId);
      },
    };
  }

  /**
   * Announces the agent's pushes to the broker that it has come to, once each; the broker may know some since the agent
   * was routed there.
   */
  repeat(agent: AgentLink): void {
    for (const push of this.#byMachine.get(agent.identity.machineId) ?? []) report(agent, push);
  }

  /** Called when the agent's broker is away: pushes must not wait for it. */
  divert(agent: AgentLink): void {
    for (const { diversion } of this.#byMachine.get(agent.identity.machineId) ?? []) diversion.abort();
  }
}

function report(agent: AgentLink, push: Push): void {
  const { broker } = agent;
  if (broker === undefined || broker === push.reportedTo) return;
  push.reportedTo = broker;
  broker.write(
    pushedFrame(agent.identity.machineId, {
      transferId: push.transferId,
      content: encodeContent(push.content),
      isKept: false,
    }),
  );
}
