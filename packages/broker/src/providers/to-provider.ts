import { encodeCancelReplicas, encodeDemand, encodeStartGang, encodeStartReplicas } from '@mutirao/api/codecs';
import type { BrokerCommand, BrokerInput } from '@mutirao/core/machines/broker';
import type { Content } from '@mutirao/core/messages';
import type { MachineId, ProviderId } from '@mutirao/core/shared';

import type { StagedBatch, StageOrder } from '../staging/stager.ts';
import type { Lanes } from '../concurrency/lanes.ts';
import type { ProviderLink } from './provider-link.ts';

type CommandOf<K extends BrokerCommand['kind']> = Extract<BrokerCommand, { kind: K }>;

/** What sending needs. */
export interface ToProviderPort {
  findLink(providerId: ProviderId): ProviderLink | undefined;
  /** What a batch is about; undefined when its job or machine is gone. */
  orderOf(command: CommandOf<'StartReplicas'>): StageOrder | undefined;
  stage(order: StageOrder): StagedBatch | Promise<StagedBatch>;
  deliver(input: BrokerInput): void;
  /** A batch left for its machine. */
  onSent(replicaCount: number): void;
}

/**
 * Sends to providers what the broker decided, in the order in which it decided for each machine: a cancel never
 * overtakes
 * the start that it is about, although starts wait for their inputs to be hashed.
 */
export class ToProvider {
  readonly #port: ToProviderPort;
  readonly #lanes: Lanes<MachineId>;

  constructor(port: ToProviderPort, lanes: Lanes<MachineId>) {
    this.#port = port;
    this.#lanes = lanes;
  }

  setDemand({ providerId, demand }: CommandOf<'SetDemand'>): void {
    this.#port.findLink(providerId)?.send({ $case: 'demand', value: encodeDemand(demand) });
  }

  acknowledge({ providerId, machineId, sequence }: CommandOf<'AcknowledgeReport'>): void {
    this.#port.findLink(providerId)?.sendToMachine(machineId, { $case: 'acknowledged', value: { sequence } });
  }

  cancelReplicas(command: CommandOf<'CancelReplicas'>): void {
    const { providerId, machineId } = command;
    const link = this.#port.findLink(providerId);
    const epoch = link?.epoch;
    this.#lanes.run(machineId, () => {
      if (link?.epoch === epoch)
        link?.sendToMachine(machineId, { $case: 'cancel', value: encodeCancelReplicas(command) });
      return undefined;
    });
  }

  /** Behind the starts and cancels of its machine. */
  startGang({ providerId, machineId, start }: CommandOf<'StartGang'>): void {
    const link = this.#port.findLink(providerId);
    const epoch = link?.epoch;
    this.#lanes.run(machineId, () => {
      if (link?.epoch === epoch) link?.sendToMachine(machineId, { $case: 'startGang', value: encodeStartGang(start) });
      return undefined;
    });
  }

  startReplicas(command: CommandOf<'StartReplicas'>): void {
    const link = this.#port.findLink(command.providerId);
    const order = this.#port.orderOf(command);
    if (link === undefined || order === undefined) return;
    const { epoch } = link;
    this.#lanes.run(command.machineId, () => {
      const staged = this.#port.stage(order);
      if (!(staged instanceof Promise)) {
        this.#send(link, order, staged);
        return undefined;
      }
      // What was placed on an earlier connection is lost already by the time it could be sent on this one.
      return staged.then((batch) => {
        if (link.epoch === epoch) this.#send(link, order, batch);
      });
    });
  }

  #send(link: ProviderLink, { machineId, spec }: StageOrder, { batch, unstartable, sources }: StagedBatch): void {
    if (batch.replicas.length > 0) {
      link.sendToMachine(machineId, { $case: 'start', value: encodeStartReplicas(batch) });
      this.#port.onSent(batch.replicas.length);
    }
    if (spec.scheduler === 'storage-affinity' && batch.replicas.some(({ inputs }) => inputs.length > 0)) {
      this.#port.deliver({ kind: 'InputsStaged', machineId, sources, contents: contentsOf(batch) });
    }
    for (const refusal of unstartable) this.#port.deliver({ kind: 'ReplicaUnstartable', ...refusal });
  }
}

/** All contents that a batch wants, each once. */
function contentsOf({ replicas }: StagedBatch['batch']): Content[] {
  const contents = new Map<string, Content>();
  for (const { inputs } of replicas) for (const { content } of inputs) contents.set(content.sha256, content);
  return [...contents.values()];
}
