import type { BrokerState } from '@mutirao/core/machines/broker';
import type { MachineId, ReplicaId } from '@mutirao/core/shared';

import type { KnownReplicas } from '../providers/report-outputs.ts';

/** What is asked of the broker's driver. */
export interface ObservedDriver {
  readonly state: Pick<BrokerState, 'replicas' | 'successes'>;
  readonly stalledBy: unknown;
  settle(): void;
}

/**
 * Says of replicas what follows from all that was heard, also from what the machine has not been told yet.
 *
 * A machine that was told of a moment ago may hold leased replicas, which become known only in the broker's next step,
 * and its report comes right behind.
 * What cannot be known, since the journal has no room, is taken for known: what was thrown away would not come again.
 */
export function knownReplicas(getDriver: () => ObservedDriver): KnownReplicas {
  const afterAll = (holds: (state: ObservedDriver['state']) => boolean): boolean => {
    const driver = getDriver();
    if (holds(driver.state)) return true;
    driver.settle();
    return driver.stalledBy !== undefined || holds(driver.state);
  };
  return {
    isOthers: (replicaId: ReplicaId, machineId: MachineId) => {
      const { replicas, successes } = getDriver().state;
      const owner = replicas.get(replicaId)?.machine.facts.machineId ?? successes.get(replicaId)?.machineId;
      return owner !== undefined && owner !== machineId;
    },
    isAwaited: (replicaId: ReplicaId) => afterAll(({ replicas }) => replicas.has(replicaId)),
    isOpen: (replicaId: ReplicaId) =>
      afterAll(({ replicas, successes }) => replicas.has(replicaId) || successes.has(replicaId)),
  };
}
