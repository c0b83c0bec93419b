import { agentMachine, openAgentInitialState } from '@mutirao/core/machines/agent';
import { brokerMachine, openBrokerInitialState } from '@mutirao/core/machines/broker';
import { clusterMachine, openClusterInitialState } from '@mutirao/core/machines/cluster';
import { openProviderInitialState, providerMachine } from '@mutirao/core/machines/provider';
import type { TraceHead } from '@mutirao/core/debugging-trace';
import type { Decision, Instant, Machine } from '@mutirao/core/shared';

/** A machine with its state, whichever it is. */
export interface OpenMachine {
  step(inputs: readonly unknown[], now: Instant): Decision<unknown, unknown>;
  /** @throws {InvariantError} */
  check(): void;
}

/**
 * Makes the machine that a trace is of, in the state that it began with. @throws {Error} when the head does not
 * describe one.
 */
export function openMachine(head: TraceHead): OpenMachine {
  switch (head.machine) {
    case 'broker':
      return join(brokerMachine, openBrokerInitialState(head, head.at));
    case 'provider':
      return join(providerMachine, openProviderInitialState(head));
    case 'agent':
      return join(agentMachine, openAgentInitialState(head));
    case 'cluster':
      return join(clusterMachine, openClusterInitialState(head));
  }
}

function join<State, Input, Change, Command>(
  machine: Machine<State, Input, Change, Command>,
  state: State,
): OpenMachine {
  return {
    step: (inputs, now) => machine.step(state, inputs as readonly Input[], now),
    check: () => {
      machine.checkInvariants(state);
    },
  };
}
