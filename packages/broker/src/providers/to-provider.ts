import {
  encodeCancelReplicas,
  encodeDemand,
  encodeOutputRequest,
  encodeStartGang,
  encodeStartReplicas,
  outputCapability,
  unreadablePart,
  type LiveOutputPart,
  type LiveOutputRequest,
} from '@mutirao/api/codecs';
import type { BrokerCommand, BrokerInput } from '@mutirao/core/machines/broker';
import type { Content } from '@mutirao/core/messages';
import type { MachineId, ProviderId } from '@mutirao/core/shared';

import type { StagedBatch, StageOrder } from '../staging/stager.ts';
import type { SerialExecutor } from '../concurrency/serial-executor.ts';
import type { ProviderLink } from './provider-link.ts';

type GetCommand<K extends BrokerCommand['kind']> = Extract<BrokerCommand, { kind: K }>;

/** What sending needs. */
export interface ToProviderPort {
  findLink(providerId: ProviderId): ProviderLink | undefined;
  /** What a batch is about; undefined when its job or machine is gone. */
  orderOf(command: GetCommand<'StartReplicas'>): StageOrder | undefined;
  stage(order: StageOrder): StagedBatch | Promise<StagedBatch>;
  deliver(input: BrokerInput): void;
  /** Answers a request for output in the place of a provider that is too old to pass it on. */
  answerOutput(machineId: MachineId, part: LiveOutputPart): void;
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
  readonly #serialExecutor: SerialExecutor<MachineId>;

  constructor(port: ToProviderPort, serialExecutor: SerialExecutor<MachineId>) {
    this.#port = port;
    this.#serialExecutor = serialExecutor;
  }

  setDemand({ providerId, demand }: GetCommand<'SetDemand'>): void {
    this.#port.findLink(providerId)?.send({ $case: 'demand', value: encodeDemand(demand) });
  }

  acknowledge({ providerId, machineId, sequence }: GetCommand<'AcknowledgeReport'>): void {
    this.#port.findLink(providerId)?.sendToMachine(machineId, { $case: 'acknowledged', value: { sequence } });
  }

  cancelReplicas(command: GetCommand<'CancelReplicas'>): void {
    const { providerId, machineId } = command;
    const link = this.#port.findLink(providerId);
    const epoch = link?.epoch;
    this.#serialExecutor.run(machineId, () => {
      if (link?.epoch === epoch)
        link?.sendToMachine(machineId, { $case: 'cancel', value: encodeCancelReplicas(command) });
      return undefined;
    });
  }

  /** Behind the starts and cancels of its machine. */
  startGang({ providerId, machineId, start }: GetCommand<'StartGang'>): void {
    const link = this.#port.findLink(providerId);
    const epoch = link?.epoch;
    this.#serialExecutor.run(machineId, () => {
      if (link?.epoch === epoch) link?.sendToMachine(machineId, { $case: 'startGang', value: encodeStartGang(start) });
      return undefined;
    });
  }

  /** Behind the starts of its machine. */
  requestOutput(providerId: ProviderId, machineId: MachineId, request: LiveOutputRequest): void {
    const link = this.#port.findLink(providerId);
    this.#serialExecutor.run(machineId, () => {
      if (link?.isConnected === true && !link.can(outputCapability))
        this.#port.answerOutput(machineId, unreadablePart(request));
      else link?.sendToMachine(machineId, { $case: 'outputRequest', value: encodeOutputRequest(request) });
      return undefined;
    });
  }

  startReplicas(command: GetCommand<'StartReplicas'>): void {
    const link = this.#port.findLink(command.providerId);
    const order = this.#port.orderOf(command);
    if (link === undefined || order === undefined) return;
    const { epoch } = link;
    this.#serialExecutor.run(command.machineId, () => {
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
      this.#port.deliver({ kind: 'InputsStaged', machineId, sources, contents: listContents(batch) });
    }
    for (const refusal of unstartable) this.#port.deliver({ kind: 'ReplicaUnstartable', ...refusal });
  }
}

/** All contents that a batch wants, each once. */
function listContents({ replicas }: StagedBatch['batch']): Content[] {
  const contents = new Map<string, Content>();
  for (const { inputs } of replicas) for (const { content } of inputs) contents.set(content.sha256, content);
  return [...contents.values()];
}
