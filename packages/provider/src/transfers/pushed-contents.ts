import { FromMachine, type ContentPushed } from '@mutirao/api/provider';
import { asBuffer } from '../relay/frames.ts';
import { frameFromMachine, machineIdField } from '../relay/wire.ts';
import type { AgentLink } from '../relay/links.ts';
import type { MachineId } from '@mutirao/core/shared';

/** Tells brokers of the contents that agents push to them; again when another stream of the broker takes over. */
export class PushedContents {
  readonly #byMachine = new Map<MachineId, Set<ContentPushed>>();

  /** Tells the agent's broker of a push. Call what it returns when the push is over. */
  announce(agent: AgentLink, pushed: ContentPushed): () => void {
    const { machineId } = agent.identity;
    const waiting = this.#byMachine.get(machineId) ?? new Set();
    this.#byMachine.set(machineId, waiting);
    waiting.add(pushed);
    tell(agent, pushed);
    return () => {
      waiting.delete(pushed);
      if (waiting.size === 0 && this.#byMachine.get(machineId) === waiting) this.#byMachine.delete(machineId);
    };
  }

  /** Tells the broker that the agent has come to of what it pushes. */
  repeat(agent: AgentLink): void {
    for (const pushed of this.#byMachine.get(agent.identity.machineId) ?? []) tell(agent, pushed);
  }
}

function tell(agent: AgentLink, pushed: ContentPushed): void {
  const message = FromMachine.encode({ machineId: '', message: { $case: 'contentPushed', value: pushed } }).finish();
  agent.broker?.write(frameFromMachine(machineIdField(agent.identity.machineId), asBuffer(message)));
}
