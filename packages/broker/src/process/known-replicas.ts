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
 * Answers questions about replicas from everything received, including inputs that the machine has not taken yet.
 *
 * A machine that joined a moment ago may hold leased replicas, which become known only in the broker's next step, and
 * its report comes right behind. Without space in the journal everything counts as known: a dropped report would not
 * come again.
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
