import type { BrokerChange } from '@mutirao/core/machines/broker';
import type { ProviderChange } from '@mutirao/core/machines/provider';
import { invariant } from '@mutirao/core/shared';
import type { WorldTurn } from '../machine-process.ts';
import { calmFaults, honestManager, type Scenario } from '../scenario.ts';
import type { World } from '../world.ts';
import type { WorldCheck } from './check.ts';

/** Where nothing goes wrong and everybody is honest, nothing is lost, refused or done again. */
export class CalmCheck implements WorldCheck {
  readonly #isCalm: boolean;

  constructor(world: World) {
    this.#isCalm = isCalm(world.scenario);
  }

  hear({ process, changes }: WorldTurn): void {
    if (!this.#isCalm) return;
    if (process === 'broker') for (const change of changes as readonly BrokerChange[]) checkBroker(change);
    if (process.startsWith('provider')) for (const change of changes as readonly ProviderChange[]) checkProvider(process, change);
  }
}

/** Whether nothing of it ever goes wrong. */
function isCalm({ faults, clusters, labs, network }: Scenario): boolean {
  return JSON.stringify(faults) === JSON.stringify(calmFaults) && network.lossProbability === 0 && network.duplicateProbability === 0
    && clusters.every((cluster) => JSON.stringify(cluster.faults) === JSON.stringify(honestManager)) && labs.every(({ upTime }) => upTime === undefined);
}

/** An allocation ends at its walltime, and what it runs ends with it. */
const rightfulReasons: ReadonlySet<string> = new Set(['MUT_WALLTIME_ENDED', 'MUT_ALLOCATION_ENDED', 'MUT_AGENT_STOPPED', 'MUT_MACHINE_LEFT']);

function checkBroker(change: BrokerChange): void {
  if (change.kind !== 'ReplicasEnded') return;
  for (const { replicaId, fate, reason } of change.endings) {
    invariant(fate !== 'lost' || rightfulReasons.has(reason), `r${replicaId} is lost in a calm world (${reason})`);
  }
}

function checkProvider(process: string, change: ProviderChange): void {
  if (change.kind !== 'RequestEnded') return;
  invariant(change.status === 'ended', `${change.requestId} of ${process} is ${change.status} in a calm world: ${change.reason}`);
}
