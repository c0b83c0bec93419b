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
  /** The stream that was told of it last: told twice it would be fetched twice, and the second time nobody gives it. */
  reportedTo: BrokerLink | undefined;
}

/** A push that was announced. */
export interface AnnouncedPush {
  /** Aborted when the broker is away and the content is to be kept instead. */
  readonly diverted: AbortSignal;
  /** The push is over. */
  forget(): void;
}

/** Tells brokers of the contents that agents push to them; again when another stream of the broker takes over. */
export class PushedContents {
  readonly #byMachine = new Map<MachineId, Set<Push>>();

  /** Tells the agent's broker of a push. */
  announce(
    agent: AgentLink,
    { transferId, content }: { readonly transferId: string; readonly content: Content },
  ): AnnouncedPush {
    const { machineId } = agent.identity;
    const waiting = this.#byMachine.get(machineId) ?? new Set();
    this.#byMachine.set(machineId, waiting);
    const push: Push = { transferId, content, diversion: new AbortController(), reportedTo: undefined };
    waiting.add(push);
    tell(agent, push);
    return {
      diverted: push.diversion.signal,
      forget: () => {
        waiting.delete(push);
        if (waiting.size === 0 && this.#byMachine.get(machineId) === waiting) this.#byMachine.delete(machineId);
      },
    };
  }

  /**
   * Tells the broker that the agent has come to of what it pushes, once: it may have been told since the agent was
   * routed there.
   */
  repeat(agent: AgentLink): void {
    for (const push of this.#byMachine.get(agent.identity.machineId) ?? []) tell(agent, push);
  }

  /** The agent's broker is away: what it pushes is not to wait for it. */
  divert(agent: AgentLink): void {
    for (const { diversion } of this.#byMachine.get(agent.identity.machineId) ?? []) diversion.abort();
  }
}

function tell(agent: AgentLink, push: Push): void {
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
