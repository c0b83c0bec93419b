import { findLedger, type BrokerChange } from '@mutirao/core/machines/broker';
import type { ProviderChange } from '@mutirao/core/machines/provider';
import { invariant, type Duration } from '@mutirao/core/shared';
import type { WorldTurn } from '../machine-process.ts';
import { calmFaults, hasSleeps, honestManager, staysUp, type Scenario } from '../scenario.ts';
import type { World } from '../world.ts';
import type { WorldCheck } from './check.ts';
import { reasonOfLoss } from './reason-of-loss.ts';

/** How long an agent takes to find back, but for the time on the way. */
const reconnectingMax: Duration = 1000;
/** Of one replica: what putting its outputs together takes at most. */
const choresMax: Duration = 50;

/**
 * Where nothing worse happens than that connections break, and everybody is honest, nothing is lost or refused, and the
 * ledger is true.
 */
export class CalmCheck implements WorldCheck {
  readonly #world: World;
  readonly #isCalm: boolean;

  constructor(world: World) {
    this.#world = world;
    this.#isCalm = isCalm(world.scenario);
  }

  receive({ process, changes }: WorldTurn): void {
    if (!this.#isCalm) return;
    if (process === 'broker') for (const change of changes as readonly BrokerChange[]) this.#checkLosses(change);
    if (process.startsWith('provider'))
      for (const change of changes as readonly ProviderChange[]) checkProvider(process, change);
  }

  /** What is lost was on its way to a machine while its connection broke, or its allocation came to its end. */
  #checkLosses(change: BrokerChange): void {
    if (change.kind !== 'ReplicasEnded') return;
    const { truth, scenario } = this.#world;
    for (const ending of change.endings) {
      const { replicaId, disposition, dispatchedAt } = ending;
      const reason = reasonOfLoss(ending);
      const isOnItsWay =
        !truth.hasBegun(replicaId) || change.at - dispatchedAt < reconnectingMax + 4 * scenario.network.delayMax;
      const isRightful = disposition !== 'lost' || rightfulReasons.has(reason) || isOnItsWay;
      invariant(isRightful, `r${replicaId} ran and is lost, though only connections broke (${reason})`);
    }
  }

  /** The ledger charges the time that really ran, plus at most what the end of each run takes. */
  end(): void {
    const { broker, promises, scenario, truth, turnDelayMax } = this.#world;
    if (!this.#isCalm || broker.current === undefined) return;
    const { state, now } = broker.current.process;
    const used = findLedger(state, now).reduce((sum, row) => sum + row.used, 0);
    const time = truth.findTime(promises.acceptedReplicaIds());
    // Members of gangs count from when they are held, wherever the others still are: nothing is said of how much that
    // may come to.
    const hasGangs = scenario.jobs.some(({ gangProcessors = 0 }) => gangProcessors > 0);
    const more = hasGangs ? Infinity : promises.acceptedCount * (2 * turnDelayMax + choresMax);
    invariant(used >= time && used <= time + more, `the ledger has ${used} ms used, and what was used were ${time} ms`);
  }
}

/** Whether nothing worse ever happens in it than that a connection breaks: everybody finds back in time. */
function isCalm({
  faults,
  clusters,
  labs,
  network,
  lease,
  choreFailureProbability = 0,
  stuckTaskProbability = 0,
}: Scenario): boolean {
  return (
    !hasSleeps(lease) &&
    JSON.stringify({ ...faults, breaksPerHour: 0 }) === JSON.stringify(calmFaults) &&
    network.lossProbability === 0 &&
    choreFailureProbability === 0 &&
    stuckTaskProbability === 0 &&
    clusters.every(
      ({ faults: ofManager, nodeLossesPerHour = 0, preemptionsPerHour = 0 }) =>
        JSON.stringify(ofManager) === JSON.stringify(honestManager) && nodeLossesPerHour + preemptionsPerHour === 0,
    ) &&
    labs.every(staysUp)
  );
}

/** An allocation ends at its walltime, and its replicas end with it; a machine loses its replicas when it is caught. */
const rightfulReasons: ReadonlySet<string> = new Set([
  'MUT_WALLTIME_ENDED',
  'MUT_ALLOCATION_ENDED',
  'MUT_AGENT_STOPPED',
  'MUT_MACHINE_LEFT',
  'MUT_MACHINE_QUARANTINED',
]);

function checkProvider(process: string, change: ProviderChange): void {
  if (change.kind !== 'RequestEnded' || change.overCode !== undefined) return;
  invariant(
    change.status === 'ended',
    `${change.requestId} of ${process} is ${change.status} in a calm world: ${change.reason}`,
  );
}
