import type { WantedContent } from '@mutirao/api/codecs';
import { chunkData } from '@mutirao/api/codecs';
import { PullContentResponse } from '@mutirao/api/machine';
import { getHealth } from '@mutirao/core/bag';
import type { BrokerId, ProviderCommand, ProviderInput } from '@mutirao/core/machines/provider';
import type { Content, MachineReport } from '@mutirao/core/messages';
import {
  describeError,
  type Bytes,
  type Duration,
  type MachineId,
  type ReplicaId,
  type UserId,
} from '@mutirao/core/shared';
import type { Timers } from '@mutirao/runtime/driver';
import type { Logger } from '@mutirao/runtime/log';
import type { SiteContents } from '../contents/site-contents.ts';
import type { AgentLink, BrokerLink } from '../relay/links.ts';
import type { OutputSpool, SpooledOutput } from '../spool/output-spool.ts';
import type { SpooledBodies } from '../spool/spooled-bodies.ts';
import type { PushedChunks } from '../transfers/chunks.ts';
import { userOfBroker } from '../user-of-broker.ts';
import { SpoolDelivery } from './spool-delivery.ts';
import type { LeaseStore } from './lease-store.ts';
import { ReportBuffer } from './report-buffer.ts';
import type { SpoolQuota } from './spool-quota.ts';

type StartLeased = Extract<ProviderCommand, { readonly kind: 'StartLeased' }>;

/** What standing in for brokers needs. */
export interface StandbyOptions {
  readonly bodies: SpooledBodies;
  readonly outputs: OutputSpool;
  readonly leases: LeaseStore;
  readonly contents: Pick<SiteContents, 'wantAway'> | undefined;
  readonly timers: Timers;
  readonly log: Logger;
  /** The user whose broker is known by its own name alone. */
  readonly ownerId: UserId;
  deliver(input: ProviderInput): void;
  /** Bytes of reports that the machine would keep. */
  roomForReports(): Bytes;
  /** The broker that a machine belongs to; undefined when it is unknown. */
  brokerOf(machineId: MachineId): BrokerId | undefined;
  /** Bounds what each user and each machine may have kept. */
  readonly quota: Pick<SpoolQuota, 'demand' | 'findReportExcess'>;
  /** Whether reports of a machine are kept for a broker. */
  hasKept(brokerId: BrokerId, machineId: MachineId): boolean;
  /** Notes the ends in a report. */
  onReport(agent: AgentLink, report: MachineReport): void;
}

/** A report that found no space is tried again after this time. */
const retryAfter: Duration = 2_000;

/**
 * Stands in for brokers that are away, as the provider's machine commands: takes reports and outputs, and starts what
 * was leased.
 */
export class Standby {
  readonly leases: LeaseStore;
  readonly #options: StandbyOptions;
  readonly #connectors = new Map<AgentLink, ReportBuffer>();
  readonly #deliveries = new WeakMap<BrokerLink, SpoolDelivery>();
  /** Bytes of reports that the machine has received and not answered yet. */
  readonly #reportedBytes = new Map<AgentLink, Map<number, Bytes>>();
  #timer: unknown;
  #isFull = false;

  constructor(options: StandbyOptions) {
    this.#options = options;
    this.leases = options.leases;
  }

  /** Why reports wait at their machines; empty while they need not. */
  get trouble(): string {
    return this.#isFull ? 'reports wait at their machines: there is no room for them' : this.#options.outputs.trouble;
  }

  /** Has an agent's messages kept from now on; asked again, those that had no room are offered again. */
  keep(agent: AgentLink): void {
    if (agent.isKeeping) {
      this.#reportedBytes.delete(agent);
      this.#connectors.get(agent)?.reportAgain();
      return;
    }
    const buffer = new ReportBuffer({
      keep: (report, bytes) => this.#keepReport(agent, report, bytes),
      offer: (contents, proofs) => {
        agent.noteProofs(proofs);
        return this.#offer(agent, contents);
      },
      setPaused: (isPaused) => {
        if (isPaused) agent.stream.pause();
        else agent.stream.resume();
      },
    });
    this.#connectors.set(agent, buffer);
    agent.keep(buffer);
  }

  /** Reports of an agent up to a sequence are safe in the journal. */
  acknowledge(agent: AgentLink, sequence: number): void {
    const reported = this.#reportedBytes.get(agent);
    for (const known of [...(reported?.keys() ?? [])]) if (known <= sequence) reported?.delete(known);
    agent.acknowledgeSpooled(sequence);
  }

  /**
   * The messages that start leased replicas on an agent's machine. Replicas that are not on the disk any more are
   * reported to the machine.
   */
  startsFor(agent: AgentLink, { brokerId, sequence, replicaIds }: StartLeased): Buffer[] {
    const { machineId, attachmentId } = agent.identity;
    const { messages, missing } = this.leases.startMessages(brokerId, sequence, replicaIds);
    if (missing.length > 0)
      this.#options.deliver({ kind: 'LeasedUnstartable', machineId, attachmentId, replicaIds: missing });
    return messages;
  }

  /** The agent's messages go to a broker, or it is gone. */
  leave(agent: AgentLink): void {
    this.#connectors.delete(agent);
    this.#reportedBytes.delete(agent);
  }

  /** The delivery of kept reports over a broker's stream. */
  deliveryTo(broker: BrokerLink): SpoolDelivery {
    let delivery = this.#deliveries.get(broker);
    if (delivery === undefined) {
      const { bodies, outputs, log } = this.#options;
      delivery = new SpoolDelivery(broker, { bodies, outputs, log });
      this.#deliveries.set(broker, delivery);
    }
    return delivery;
  }

  /** A broker has acknowledged reports of a machine. */
  noteAcknowledged(brokerId: BrokerId, machineId: MachineId, sequence: number): void {
    if (this.#options.hasKept(brokerId, machineId))
      this.#options.deliver({ kind: 'SpooledAcknowledged', brokerId, machineId, sequence });
  }

  /** Reports were forgotten: so are their outputs, and there is room for others. */
  dropReports(machineId: MachineId, incarnation: string, upTo: number): void {
    this.#options.outputs.remove(this.#options.bodies.dropReports(machineId, incarnation, upTo));
    this.#goOn();
  }

  /** Keeps what a machine pushes for its broker. @throws {MutiraoError} of the spool. */
  async keepOutput(
    machineId: MachineId,
    pushed: { readonly transferId: string; readonly content: Content },
    chunks: PushedChunks,
  ): Promise<void> {
    const brokerId = this.#options.brokerOf(machineId) ?? '';
    this.#options.quota.demand(brokerId, machineId, pushed.content.size);
    await this.#options.outputs.keep({ ...pushed, brokerId, machineId }, listData(chunks), (offset) => {
      chunks.begin(offset);
    });
  }

  /** What a broker of this user may fetch under a name; undefined when nothing is kept under it for one of hers. */
  findOutput(transferId: string, userId: UserId): SpooledOutput | undefined {
    const output = this.#options.outputs.find(transferId);
    if (output === undefined) return undefined;
    return userOfBroker(output.brokerId, this.#options.ownerId) === userId ? output : undefined;
  }

  /** Bytes of outputs that are kept for a broker. */
  spooledBytesOf(brokerId: BrokerId): Bytes {
    return this.#options.outputs.getBytes(brokerId);
  }

  /** The messages of an output, from an offset on. */
  readOutput(output: SpooledOutput, offset: Bytes): AsyncGenerator<Buffer> {
    return this.#options.outputs.read(output, offset);
  }

  /** A broker has all of an output. One that a kept report names goes when the report is acknowledged. */
  noteFetched({ transferId }: SpooledOutput): void {
    if (!this.#options.bodies.isNamed(transferId)) this.#options.outputs.remove([transferId]);
  }

  /** After a broker has received everything, removes pushed outputs of lost machines that no report names. */
  sweepOutputs(brokerId: BrokerId): void {
    const { outputs, bodies, brokerOf } = this.#options;
    const stale = outputs
      .ofBroker(brokerId)
      .filter(({ transferId, machineId }) => !bodies.isNamed(transferId) && brokerOf(machineId) !== brokerId);
    outputs.remove(stale.map(({ transferId }) => transferId));
  }

  /**
   * A broker speaks for another journal than before: what it leased over earlier connections is void, and nobody asks
   * for outputs that were kept for it.
   */
  forgetBroker(brokerId: BrokerId, connectionId: number): void {
    const { outputs } = this.#options;
    this.leases.forget(brokerId, connectionId);
    outputs.remove(outputs.ofBroker(brokerId).map(({ transferId }) => transferId));
    this.#goOn();
  }

  close(): void {
    this.#options.timers.cancel(this.#timer);
    this.leases.close();
  }

  #keepReport(agent: AgentLink, report: MachineReport, bytes: Buffer): boolean {
    const { bodies, deliver, log, onReport, quota } = this.#options;
    const { machineId, incarnation, attachmentId } = agent.identity;
    const { sequence, ended } = report;
    if (this.#options.roomForReports() - this.#countReported() < bytes.length)
      return this.#waitForRoom('too many reports are kept');
    const excess = quota.findReportExcess(machineId, this.#countReported([agent]), bytes.length);
    if (excess !== undefined) return this.#waitForRoom(excess);
    const transferIds = ended
      .flatMap(({ outputs }) => outputs.map(({ transferId }) => transferId))
      .filter((transferId) => transferId !== '');
    try {
      bodies.keepReport({ machineId, incarnation, sequence }, { bytes, transferIds });
    } catch (error) {
      log.debug({ err: error }, 'cannot write a report');
      return this.#waitForRoom(describeError(error));
    }
    const reported = this.#reportedBytes.get(agent) ?? new Map<number, Bytes>();
    this.#reportedBytes.set(agent, reported);
    reported.set(sequence, bytes.length);
    onReport(agent, report);
    deliver({
      kind: 'ReportMade',
      machineId,
      attachmentId,
      sequence,
      bytes: bytes.length,
      endedReplicaIds: ended.map(({ replicaId }): ReplicaId => replicaId),
      health: getHealth(ended),
    });
    return true;
  }

  #countReported(agents: Iterable<AgentLink> = this.#reportedBytes.keys()): Bytes {
    let bytes = 0;
    for (const agent of agents) for (const one of this.#reportedBytes.get(agent)?.values() ?? []) bytes += one;
    return bytes;
  }

  #waitForRoom(reason: string): false {
    const { log, timers } = this.#options;
    if (!this.#isFull) log.warn({ reason }, 'no room for reports; they wait at their machines');
    this.#isFull = true;
    timers.cancel(this.#timer);
    this.#timer = timers.start(retryAfter, () => {
      this.#goOn();
    });
    return false;
  }

  #goOn(): void {
    if (!this.#isFull) return;
    this.#isFull = false;
    for (const buffer of this.#connectors.values()) buffer.goOn();
  }

  #offer(agent: AgentLink, contents: readonly WantedContent[]): readonly WantedContent[] {
    const { contents: store, brokerOf } = this.#options;
    const brokerId = brokerOf(agent.identity.machineId);
    return store === undefined || brokerId === undefined ? contents : store.wantAway(agent, brokerId, contents);
  }
}

/** Number of the data field in the chunks that a transfer passes through. */
const dataField = 1;

async function* listData(chunks: AsyncIterable<Buffer>): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) yield chunkData(chunk, dataField, PullContentResponse);
}
