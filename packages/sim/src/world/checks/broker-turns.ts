import type { BrokerCommand, BrokerInput, BrokerState } from '@mutirao/core/machines/broker';
import { invariant } from '@mutirao/core/shared';
import type { WorldTurn } from '../machine-process.ts';
import type { World } from '../world.ts';
import type { WorldCheck } from './check.ts';

type StartReplicas = Extract<BrokerCommand, { readonly kind: 'StartReplicas' }>;
type MachineReported = Extract<BrokerInput, { readonly kind: 'MachineReported' }>;

/** A broker's messages to machines follow from its journal. */
export class BrokerTurnCheck implements WorldCheck {
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
  }

  receive({ process, inputs, commands }: WorldTurn): void {
    const broker = this.#world.broker.current?.process;
    if (process !== 'broker' || broker === undefined) return;
    for (const command of commands as readonly BrokerCommand[]) {
      if (command.kind === 'StartReplicas') checkStart(broker.state, command, broker.now);
      if (command.kind === 'AcknowledgeReport')
        checkAcknowledged(broker.state, command, inputs as readonly BrokerInput[]);
    }
  }
}

/** Work goes only to machines that are there and whose time is not over. */
function checkStart(state: BrokerState, { machineId, jobId, starts }: StartReplicas, now: number): void {
  const machine = state.machines.get(machineId);
  invariant(machine?.isAnnounced === true, `job ${jobId} is started on ${machineId}, which nobody announces`);
  const { until = Infinity } = machine.facts;
  invariant(until > now, `job ${jobId} is started on ${machineId}, whose time ended at ${until}`);
  invariant(state.jobs.get(jobId)?.status === 'running', `job ${jobId} is over and started on ${machineId}`);
  for (const { replicaId } of starts)
    invariant(
      machine.replicas.has(replicaId),
      `r${replicaId} is started on ${machineId}, and the broker thinks otherwise`,
    );
}

/** What is acknowledged is forgotten at its machine, so it must be in the journal now. */
function checkAcknowledged(
  state: BrokerState,
  { machineId, sequence }: { readonly machineId: string; readonly sequence: number },
  inputs: readonly BrokerInput[],
): void {
  const isMeant = (input: BrokerInput): input is MachineReported =>
    input.kind === 'MachineReported' && input.machineId === machineId && input.report.sequence === sequence;
  const replicas = state.machines.get(machineId)?.replicas;
  for (const { report } of inputs.filter(isMeant)) {
    for (const { replicaId } of report.ended)
      invariant(replicas?.has(replicaId) !== true, `the end of r${replicaId} is acknowledged and was not taken`);
  }
}
