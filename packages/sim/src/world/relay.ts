import { getHealth } from '@mutirao/core/bag';
import type { ProviderCommand, ProviderInput } from '@mutirao/core/machines/provider';
import { keptKey } from '@mutirao/core/machines/provider';
import type { Lease, MachineReport } from '@mutirao/core/messages';
import type { Instant, MachineId, ReplicaId, RequestId } from '@mutirao/core/shared';
import type { FromAgent, FromBroker, ToAgent, ToBroker } from './messages.ts';
import type { StreamEnd } from './network.ts';
import { getBytes, type SimulatedSpool } from './spool.ts';

/** Commands that a relay carries out. */
export type RelayCommand = Extract<
  ProviderCommand,
  {
    readonly kind:
      | 'ReportMachineJoined'
      | 'ReportMachineLost'
      | 'ReportRequests'
      | 'ReportStatuses'
      | 'ReportResource'
      | 'ReportDraining'
      | 'ReportSynced'
      | 'ReattachAgent'
      | 'ClearAgent'
      | 'RefuseAgent'
      | 'KeepReports'
      | 'AcknowledgeSpooled'
      | 'StartLeased'
      | 'ConfirmLease';
  }
>;

type StartLeased = Extract<RelayCommand, { readonly kind: 'StartLeased' }>;

interface BrokerLink {
  readonly brokerId: string;
  readonly connectionId: number;
  readonly stream: StreamEnd<ToBroker, FromBroker>;
}

interface AgentLink {
  readonly attachmentId: number;
  readonly machineId: MachineId;
  readonly incarnation: string;
  readonly requestId: RequestId;
  readonly stream: StreamEnd<ToAgent, FromAgent>;
  broker: BrokerLink | undefined;
  /** What it said before it belonged to a broker. */
  waiting: FromAgent[];
  /** Replicas of a broker that is gone and whose ends are still to come; undefined unless it is being cleared. */
  clearing: Set<ReplicaId> | undefined;
  /** Its reports are spooled; they stay among what waits until they are known to be kept. */
  isKeeping: boolean;
}

/** What a relay needs. */
export interface RelaySetup {
  /** What the provider's clock shows. */
  now(): Instant;
  /** The name of the provider's resource at the reservation manager; undefined if it honours no reservations. */
  readonly resourceId: string | undefined;
  deliver(input: ProviderInput): void;
  /** The name of the machine that an agent presents. */
  nameMachine(machineId: MachineId, requestId: RequestId): MachineId;
  /** Called with each report that is passed on. */
  onReport(agent: { readonly machineId: MachineId; readonly requestId: RequestId }, report: MachineReport): void;
  /** Called when an agent is away. */
  onAway(machineId: MachineId): void;
  readonly spool: SimulatedSpool;
  /** A broker's lease is in the spool. */
  onLease(brokerId: string, connectionId: number, lease: Lease): void;
}

/** Joins the streams of brokers and agents as the machine commands: the live provider's relay, without its bytes. */
export class SimulatedRelay {
  readonly #setup: RelaySetup;
  readonly #brokers = new Map<string, BrokerLink>();
  readonly #agents = new Map<number, AgentLink>();
  readonly #agentsByMachine = new Map<MachineId, AgentLink>();
  #connectionCount = 0;
  #attachmentCount = 0;

  constructor(setup: RelaySetup) {
    this.#setup = setup;
  }

  /** Has all brokers connect again, as the live relay does when its clock was set. */
  greetAgain(): void {
    for (const link of [...this.#brokers.values()]) {
      link.stream.close('MUT_UNREACHABLE');
      this.#loseBroker(link);
    }
  }

  /** Serves a broker's stream. */
  acceptBroker(stream: StreamEnd<ToBroker, FromBroker>): void {
    let link: BrokerLink | undefined;
    stream.onMessage = (message) => {
      if (link !== undefined) this.#receiveFromBroker(link, message);
      else if (message.kind === 'hello') link = this.#welcomeBroker(stream, message);
    };
    stream.onClosed = () => {
      if (link !== undefined) this.#loseBroker(link);
    };
  }

  #welcomeBroker(
    stream: StreamEnd<ToBroker, FromBroker>,
    { brokerId, instance, takesResource = false }: FromBroker & { kind: 'hello' },
  ): BrokerLink {
    const former = this.#brokers.get(brokerId);
    if (former !== undefined) {
      former.stream.close('MUT_CANCELLED');
      this.#loseBroker(former);
    }
    this.#connectionCount += 1;
    const link = { brokerId, connectionId: this.#connectionCount, stream };
    this.#brokers.set(brokerId, link);
    stream.write({ kind: 'hello', clock: this.#setup.now(), resourceId: this.#setup.resourceId });
    this.#setup.deliver({
      kind: 'BrokerConnected',
      brokerId,
      connectionId: link.connectionId,
      instance,
      takesResource,
    });
    return link;
  }

  #receiveFromBroker(link: BrokerLink, message: FromBroker): void {
    if (message.kind === 'demand') {
      this.#setup.deliver({ kind: 'DemandChanged', brokerId: link.brokerId, demand: message.demand });
    } else if (message.kind === 'lease') {
      this.#setup.spool.writeLease(link.brokerId, message.lease);
      this.#setup.onLease(link.brokerId, link.connectionId, message.lease);
    } else if (message.kind === 'leaseRevocation') {
      this.#setup.deliver({
        kind: 'LeaseRevoked',
        brokerId: link.brokerId,
        connectionId: link.connectionId,
        replicaIds: message.replicaIds,
      });
    } else if (message.kind === 'toMachine') {
      if (message.message.kind === 'acknowledged' && this.#setup.spool.hasReportOf(message.machineId)) {
        this.#setup.deliver({
          kind: 'SpooledAcknowledged',
          brokerId: link.brokerId,
          machineId: message.machineId,
          sequence: message.message.sequence,
        });
      }
      const agent = this.#agentsByMachine.get(message.machineId);
      if (agent?.broker === link) agent.stream.write(message.message);
    }
  }

  #loseBroker(link: BrokerLink): void {
    if (this.#brokers.get(link.brokerId) === link) this.#brokers.delete(link.brokerId);
    for (const agent of this.#agents.values()) if (agent.broker === link) agent.broker = undefined;
    this.#setup.deliver({ kind: 'BrokerDisconnected', brokerId: link.brokerId, connectionId: link.connectionId });
  }

  /** Serves an agent's stream. */
  acceptAgent(stream: StreamEnd<ToAgent, FromAgent>): void {
    let link: AgentLink | undefined;
    stream.onMessage = (message) => {
      if (link !== undefined) this.#receiveFromAgent(link, message);
      else if (message.kind === 'hello') link = this.#welcomeAgent(stream, message);
    };
    stream.onClosed = (code) => {
      if (link !== undefined) this.#loseAgent(link, code === '');
    };
  }

  #welcomeAgent(
    stream: StreamEnd<ToAgent, FromAgent>,
    { facts: reported, heldReplicaIds, credential }: FromAgent & { kind: 'hello' },
  ): AgentLink {
    const machineId = this.#setup.nameMachine(reported.machineId, credential);
    const former = this.#agentsByMachine.get(machineId);
    if (former !== undefined) {
      former.stream.close(former.incarnation === reported.incarnation ? 'MUT_REATTACH' : 'MUT_MACHINE_NAME_TAKEN_OVER');
      this.#loseAgent(former, false);
    }
    this.#attachmentCount += 1;
    const link: AgentLink = {
      attachmentId: this.#attachmentCount,
      machineId,
      incarnation: reported.incarnation,
      requestId: credential,
      stream,
      broker: undefined,
      waiting: [],
      clearing: undefined,
      isKeeping: false,
    };
    this.#agents.set(link.attachmentId, link);
    this.#agentsByMachine.set(machineId, link);
    stream.write({ kind: 'hello' });
    const facts = {
      ...reported,
      machineId,
      requestId: credential,
      until: credential === '' ? reported.until : undefined,
    };
    this.#setup.deliver({ kind: 'AgentAttached', attachmentId: link.attachmentId, facts, heldReplicaIds });
    return link;
  }

  #receiveFromAgent(agent: AgentLink, message: FromAgent): void {
    if (agent.clearing !== undefined) this.#clear(agent, agent.clearing, message);
    else if (agent.broker === undefined) {
      agent.waiting.push(message);
      if (agent.isKeeping) this.#keep(agent, message);
    } else this.#passOn(agent, agent.broker, message);
  }

  /** Spools a report and delivers it; gives what the spool has. */
  #keep(agent: AgentLink, message: FromAgent): void {
    const { spool, deliver } = this.#setup;
    const { machineId, incarnation, attachmentId } = agent;
    if (message.kind === 'report') {
      const { report } = message;
      const { sequence, ended } = report;
      spool.writeReport(keptKey({ machineId, incarnation }), report);
      deliver({
        kind: 'ReportMade',
        machineId,
        attachmentId,
        sequence,
        endedReplicaIds: ended.map(({ replicaId }) => replicaId),
        bytes: getBytes(report),
        health: getHealth(ended),
      });
    } else if (message.kind === 'blobRequest') {
      for (const content of message.contents)
        if (spool.contents.has(content.sha256)) agent.stream.write({ kind: 'content', content, isThere: true });
    }
  }

  #acknowledgeSpooled(agent: AgentLink, sequence: number): void {
    const isKept = (message: FromAgent): boolean => message.kind === 'report' && message.report.sequence <= sequence;
    for (const message of agent.waiting)
      if (message.kind === 'report' && isKept(message)) this.#setup.onReport(agent, message.report);
    agent.waiting = agent.waiting.filter((message) => !isKept(message));
    agent.stream.write({ kind: 'acknowledged', sequence });
  }

  #passOn(agent: AgentLink, broker: BrokerLink, message: FromAgent): void {
    if (message.kind === 'report') this.#setup.onReport(agent, message.report);
    broker.stream.write({ kind: 'fromMachine', machineId: agent.machineId, message });
  }

  #clear(agent: AgentLink, clearing: Set<ReplicaId>, message: FromAgent): void {
    if (message.kind !== 'report') return;
    for (const { replicaId } of message.report.ended) clearing.delete(replicaId);
    agent.stream.write({ kind: 'acknowledged', sequence: message.report.sequence });
    if (clearing.size === 0) this.#dismiss(agent, 'MUT_REATTACH');
  }

  #loseAgent(link: AgentLink, hasLeft: boolean): void {
    const { attachmentId, machineId } = link;
    link.broker = undefined;
    if (!this.#agents.delete(attachmentId)) return;
    if (this.#agentsByMachine.get(machineId) === link) {
      this.#agentsByMachine.delete(machineId);
      this.#setup.onAway(machineId);
    }
    this.#setup.deliver({ kind: 'AgentDetached', machineId, attachmentId, hasLeft });
  }

  #dismiss(agent: AgentLink, code: string): void {
    agent.stream.close(code);
    this.#loseAgent(agent, false);
  }

  /** Carries out a command of the machine. */
  perform(command: RelayCommand): void {
    switch (command.kind) {
      case 'ReattachAgent':
        this.#withAgent(command.attachmentId, (agent) => {
          this.#dismiss(agent, 'MUT_REATTACH');
        });
        break;
      case 'RefuseAgent':
        this.#withAgent(command.attachmentId, (agent) => {
          this.#dismiss(agent, command.code);
        });
        break;
      case 'ClearAgent':
        this.#withAgent(command.attachmentId, (agent) => {
          this.#beginClearing(agent, command.heldReplicaIds);
        });
        break;
      case 'KeepReports':
        this.#withAgent(command.attachmentId, (agent) => {
          agent.isKeeping = true;
          for (const message of agent.waiting) this.#keep(agent, message);
        });
        break;
      case 'AcknowledgeSpooled':
        this.#withAgent(command.attachmentId, (agent) => {
          this.#acknowledgeSpooled(agent, command.sequence);
        });
        break;
      case 'StartLeased':
        this.#withAgent(command.attachmentId, (agent) => {
          this.#startLeased(agent, command);
        });
        break;
      default:
        this.#report(command);
    }
  }

  #withAgent(attachmentId: number, act: (agent: AgentLink) => void): void {
    const agent = this.#agents.get(attachmentId);
    if (agent !== undefined) act(agent);
  }

  #startLeased({ stream, machineId, attachmentId }: AgentLink, { brokerId, sequence, replicaIds }: StartLeased): void {
    const batches = this.#setup.spool.getStarts(brokerId, sequence, replicaIds);
    for (const batch of batches) stream.write({ kind: 'start', batch });
    const there = new Set(batches.flatMap(({ replicas }) => replicas.map(({ replicaId }) => replicaId)));
    const missing = replicaIds.filter((replicaId) => !there.has(replicaId));
    if (missing.length > 0)
      this.#setup.deliver({ kind: 'LeasedUnstartable', machineId, attachmentId, replicaIds: missing });
  }

  #beginClearing(agent: AgentLink, heldReplicaIds: readonly ReplicaId[]): void {
    const clearing = new Set(heldReplicaIds);
    agent.clearing = clearing;
    agent.stream.write({ kind: 'cancel', replicaIds: heldReplicaIds, onlyWaiting: false });
    for (const message of agent.waiting.splice(0)) this.#clear(agent, clearing, message);
  }

  #report(
    command: Exclude<Extract<RelayCommand, { readonly brokerId: string }>, { readonly kind: 'StartLeased' }>,
  ): void {
    const broker = this.#brokers.get(command.brokerId);
    if (broker === undefined) return;
    switch (command.kind) {
      case 'ReportMachineJoined': {
        const { facts, heldReplicaIds, keptSequences = [], isGone } = command;
        broker.stream.write({ kind: 'joined', facts, heldReplicaIds, ...(isGone === true ? { isGone } : {}) });
        for (const sequence of keptSequences) {
          const report = this.#setup.spool.getReport(keptKey(facts), sequence);
          broker.stream.write({ kind: 'fromMachine', machineId: facts.machineId, message: { kind: 'report', report } });
        }
        if (isGone !== true) this.#route(this.#agentsByMachine.get(facts.machineId), broker);
        break;
      }
      case 'ReportMachineLost': {
        const { machineId, reason } = command;
        const agent = this.#agentsByMachine.get(machineId);
        if (agent?.broker === broker) agent.broker = undefined;
        broker.stream.write({ kind: 'lost', machineId, reason });
        break;
      }
      case 'ReportDraining':
        broker.stream.write({ kind: 'draining', draining: command.draining });
        break;
      case 'ReportResource':
        broker.stream.write({ kind: 'resource', resourceStatus: command.resourceStatus });
        break;
      case 'ReportStatuses':
        broker.stream.write({ kind: 'statuses', statuses: command.statuses });
        break;
      case 'ReportRequests':
        broker.stream.write({ kind: 'requests', requests: command.requests });
        break;
      case 'ConfirmLease':
        broker.stream.write({ kind: 'leaseConfirmed', sequence: command.sequence });
        break;
      case 'ReportSynced':
        broker.stream.write({ kind: 'settled' });
        break;
    }
  }

  #route(agent: AgentLink | undefined, broker: BrokerLink): void {
    if (agent === undefined) return;
    agent.broker = broker;
    agent.isKeeping = false;
    for (const message of agent.waiting.splice(0)) this.#passOn(agent, broker, message);
  }
}
