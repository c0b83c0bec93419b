import {
  boundCode,
  boundList,
  decodeAllocationRequest,
  decodeStatus,
  decodeBlobUpload,
  decodeBlobRequest,
  decodeDraining,
  decodeMachineFacts,
  decodeOutputPart,
  decodeReaderProofs,
  decodeReport,
  decodeResourceStatus,
  type LiveOutputPart,
  type PushedContent,
  type ReaderProofs,
  type WantedContent,
} from '@mutirao/api/codecs';
import { MutiraoError } from '@mutirao/api/errors';
import type { ConnectResponse, FromMachine } from '@mutirao/api/provider';
import type { BrokerInput } from '@mutirao/core/machines/broker';
import type { MachineFacts, MachineReport } from '@mutirao/core/messages';
import type { MachineId, ProviderId } from '@mutirao/core/shared';

import type { SerialExecutor } from '../concurrency/serial-executor.ts';
import { getBytes, hasOutputs, type CountedReport } from './report-outputs.ts';

/** What a provider's messages are turned into. */
export interface FromProviderPort {
  deliver(input: BrokerInput): void;
  /** Adds what home knows of a machine. */
  describeMachine(facts: MachineFacts): MachineFacts;
  /**
   * Resolves to the report without bytes, when all its outputs are kept as well as they can be; undefined when the
   * connection that it came over was lost meanwhile, since then it comes again. Never rejects.
   */
  keepOutputs(machineId: MachineId, report: MachineReport): Promise<MachineReport | undefined>;
  /** Counts what the tasks of a report printed, until the report is delivered. */
  countPrinted(machineId: MachineId, report: MachineReport): CountedReport;
  fetchPushed(machineId: MachineId, pushed: PushedContent): void;
  /** What a task has written, for who asked. */
  takeOutput(machineId: MachineId, part: LiveOutputPart): void;
  /** `machineId` is empty for what the provider wants itself. */
  serveWanted(machineId: MachineId, contents: readonly WantedContent[], proofs: ReaderProofs): void;
  /** Called with the bytes that wait to be kept, after each change. */
  onHeldBytes(bytes: number): void;
}

/**
 * Turns what a provider says into inputs, in the order in which each machine said it.
 *
 * A report with files waits until these are kept, and what the same machine says after it waits too.
 */
export class FromProvider {
  readonly #providerId: ProviderId;
  readonly #port: FromProviderPort;
  readonly #serialExecutor: SerialExecutor<MachineId>;
  #heldBytes = 0;

  constructor(providerId: ProviderId, port: FromProviderPort, serialExecutor: SerialExecutor<MachineId>) {
    this.#providerId = providerId;
    this.#port = port;
    this.#serialExecutor = serialExecutor;
  }

  /** @throws {MutiraoError} when the provider speaks nonsense, or of machines that are not its own. */
  receive(message: NonNullable<ConnectResponse['message']>): void {
    switch (message.$case) {
      case 'joined': {
        const facts = this.#port.describeMachine(decodeMachineFacts(message.value.facts));
        this.#checkName(facts.machineId);
        const { heldReplicaIds, isGone } = message.value;
        boundList(heldReplicaIds, 'heldReplicas', 'joined.held_replica_ids');
        this.#inOrder(facts.machineId, {
          kind: 'MachineJoined',
          providerId: this.#providerId,
          facts,
          heldReplicaIds,
          ...(isGone === true ? { isGone } : {}),
        });
        break;
      }
      case 'lost':
        this.#checkName(message.value.machineId);
        this.#inOrder(message.value.machineId, {
          kind: 'MachineLost',
          machineId: message.value.machineId,
          reason: boundCode(message.value.reason, 'lost.reason'),
        });
        break;
      case 'fromMachine':
        // What the provider wants for its site it wants in the name of no machine.
        if (message.value.machineId !== '' || message.value.message?.$case !== 'blobRequest')
          this.#checkName(message.value.machineId);
        this.#receiveFromMachine(message.value);
        break;
      case 'requests':
        this.#port.deliver({
          kind: 'RequestsChanged',
          providerId: this.#providerId,
          requests: boundList(message.value.requests, 'requests', 'requests').map(decodeAllocationRequest),
        });
        break;
      case 'statuses':
        this.#port.deliver({
          kind: 'StatusesReported',
          providerId: this.#providerId,
          statuses: boundList(message.value.statuses, 'reservations', 'statuses').map(decodeStatus),
        });
        break;
      case 'draining':
        this.#port.deliver({
          kind: 'DrainingReported',
          providerId: this.#providerId,
          draining: decodeDraining(message.value),
        });
        break;
      case 'resource':
        this.#port.deliver({
          kind: 'ResourceReported',
          providerId: this.#providerId,
          resourceStatus: decodeResourceStatus(message.value),
        });
        break;
      case 'settled':
        this.#settle();
        break;
      case 'leaseConfirmed':
        this.#port.deliver({ kind: 'LeaseConfirmed', providerId: this.#providerId, sequence: message.value.sequence });
        break;
      case 'hello':
        throw new MutiraoError('MUT_PROTOCOL', 'the provider said hello twice');
    }
  }

  #receiveFromMachine({ machineId, message }: FromMachine): void {
    switch (message?.$case) {
      case 'report': {
        const report = this.#read(machineId, () => decodeReport(message.value), message.value.sequence);
        if (report !== undefined) this.#receiveReport(machineId, report);
        break;
      }
      case 'blobRequest': {
        const read = this.#read(machineId, () => ({
          wanted: decodeBlobRequest(message.value),
          proofs: decodeReaderProofs(message.value),
        }));
        if (read !== undefined) this.#port.serveWanted(machineId, read.wanted, read.proofs);
        break;
      }
      case 'blobUpload': {
        const pushed = this.#read(machineId, () => decodeBlobUpload(message.value));
        if (pushed !== undefined) this.#port.fetchPushed(machineId, pushed);
        break;
      }
      case 'outputPart': {
        const part = this.#read(machineId, () => decodeOutputPart(message.value));
        if (part !== undefined) this.#port.takeOutput(machineId, part);
        break;
      }
      case undefined:
        throw new MutiraoError('MUT_PROTOCOL', `machine ${machineId} sent a message that this release does not know`);
    }
  }

  /**
   * What a machine says that cannot be is held against it, and not against its provider, which has other machines.
   * Undefined for such a thing.
   */
  #read<T>(machineId: MachineId, decode: () => T, sequence?: number): T | undefined {
    try {
      return decode();
    } catch (error) {
      // The provider speaks for itself there.
      if (!(error instanceof MutiraoError) || machineId === '') throw error;
      this.#inOrder(machineId, {
        kind: 'MachineMisbehaved',
        machineId,
        detail: error.message,
        ...(sequence === undefined ? {} : { sequence }),
      });
      return undefined;
    }
  }

  #receiveReport(machineId: MachineId, sent: MachineReport): void {
    const { report, release } = this.#port.countPrinted(machineId, sent);
    if (!hasOutputs(report)) {
      this.#serialExecutor.run(machineId, () => {
        release();
        this.#port.deliver({ kind: 'MachineReported', machineId, report });
        return undefined;
      });
      return;
    }
    const bytes = getBytes(report);
    this.#hold(bytes);
    this.#serialExecutor.run(machineId, async () => {
      const kept = await this.#port.keepOutputs(machineId, report).finally(() => {
        this.#hold(-bytes);
        release();
      });
      if (kept !== undefined) this.#port.deliver({ kind: 'MachineReported', machineId, report: kept });
    });
  }

  #inOrder(machineId: MachineId, input: BrokerInput): void {
    this.#serialExecutor.run(machineId, () => {
      this.#port.deliver(input);
      return undefined;
    });
  }

  /** The provider is synced once messages of machines that still wait have been delivered too. */
  #settle(): void {
    const input: BrokerInput = { kind: 'ProviderSynced', providerId: this.#providerId };
    const waiting = this.#serialExecutor.whenDone();
    if (waiting === undefined) this.#port.deliver(input);
    else
      void waiting.then(() => {
        this.#port.deliver(input);
      });
  }

  #hold(bytes: number): void {
    this.#heldBytes += bytes;
    this.#port.onHeldBytes(this.#heldBytes);
  }

  #checkName(machineId: MachineId): void {
    if (!machineId.startsWith(`${this.#providerId}/`)) {
      throw new MutiraoError(
        'MUT_PROTOCOL',
        `provider ${this.#providerId} speaks of machine ${JSON.stringify(machineId)}, which is not its own`,
      );
    }
  }
}
