import type { BrokerChange, BrokerCommand } from '@mutirao/core/machines/broker';
import type { ProviderCommand } from '@mutirao/core/machines/provider';
import { invariant } from '@mutirao/core/shared';
import type { WorldTurn } from '../machine-process.ts';
import type { World } from '../world.ts';
import type { WorldCheck } from './check.ts';
import { reasonOfLoss } from './reason-of-loss.ts';

/**
 * A provider that drains gets nothing new from a broker that knows of it, requests nothing, and its drain counts
 * against no task.
 */
export class DrainingCheck implements WorldCheck {
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
  }

  receive({ process, changes, commands }: WorldTurn): void {
    if (process === 'broker')
      this.#checkBroker(changes as readonly BrokerChange[], commands as readonly BrokerCommand[]);
    else if (process.startsWith('provider')) this.#checkProvider(process, commands as readonly ProviderCommand[]);
  }

  #checkBroker(changes: readonly BrokerChange[], commands: readonly BrokerCommand[]): void {
    const providers = this.#world.broker.current?.process.state.providers;
    for (const command of commands) {
      if (command.kind !== 'StartReplicas') continue;
      invariant(
        providers?.get(command.providerId)?.draining === undefined,
        `replicas are placed on ${command.machineId}, whose provider has said that it is draining`,
      );
    }
    for (const change of changes) if (change.kind === 'ReplicasEnded') checkEndings(change);
  }

  #checkProvider(process: string, commands: readonly ProviderCommand[]): void {
    for (const { kind } of commands) {
      if (kind !== 'SubmitRequest' && kind !== 'StartLeased') continue;
      invariant(!this.#isDraining(process), `${process} is draining, and performs ${kind}`);
    }
  }

  #isDraining(process: string): boolean {
    const site = [...this.#world.clusters, ...this.#world.labs].find(
      ({ provider }) => `provider ${provider.name}` === process,
    );
    return site?.provider.current?.process.state.draining !== undefined;
  }
}

function checkEndings({ endings }: Extract<BrokerChange, { kind: 'ReplicasEnded' }>): void {
  for (const ending of endings) {
    const { replicaId, disposition } = ending;
    const isOfDrain = reasonOfLoss(ending) === 'MUT_DRAINING';
    invariant(
      !isOfDrain || (disposition !== 'lost' && disposition !== 'failed'),
      `r${replicaId} is ${disposition} since its provider drains, which counts against its task`,
    );
  }
}
