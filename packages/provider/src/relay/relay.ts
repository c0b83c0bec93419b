import { MutiraoError, errorOfCode } from '@mutirao/api/errors';
import {
  boundList,
  decodeBlobOffer,
  decodeBlobRequest,
  decodeDemand,
  decodeHello,
  decodeMachineFacts,
  decodeReaderProofs,
  encodeAllocationRequest,
  encodeDraining,
  encodeResourceStatus,
  encodeStatus,
  encodeMachineFacts,
  outputCapability,
  type ContentOffer,
  type WantedContent,
} from '@mutirao/api/codecs';
import { BlobOffer, BlobRequest, MachineHello } from '@mutirao/api/machine';
import { Demand, LeaseRevocation } from '@mutirao/api/provider';
import type { BrokerId, ProviderCommand, ProviderInput } from '@mutirao/core/machines/provider';
import type { MachineFacts } from '@mutirao/core/messages';
import type { MachineId, ProviderId, UserId } from '@mutirao/core/shared';
import type { Audit } from '@mutirao/runtime/audit';
import type { CallContext } from '@mutirao/runtime/rpc';
import type { Clock } from '@mutirao/runtime/driver';
import type { Logger } from '@mutirao/runtime/log';
import type { AgentGate } from '../agent-gate.ts';
import { getOrigin, type AgentOrigin } from '../credentials.ts';
import type { SiteContents } from '../contents/site-contents.ts';
import type { Standby } from '../standby/standby.ts';
import { userOfBroker } from '../user-of-broker.ts';
import { toAgent, toBroker } from './frames.ts';
import { findOnlyUser, ownHello, readBrokerHello, takesGangs, type HelloWire } from './hello.ts';
import { AgentLink, BrokerLink, type ByteStream } from './links.ts';
import type { TaskMeasure } from './measure.ts';
import {
  acknowledgedField,
  attachFields,
  connectFields,
  blobOfferField,
  decodeWith,
  findAlternative,
  outputRequestField,
  readToMachine,
  getSequence,
} from './wire.ts';

/** Commands that the relay carries out. */
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

/** The commands that report something to a broker. */
type ReportCommand = Extract<
  RelayCommand,
  {
    readonly kind:
      | 'ReportMachineJoined'
      | 'ReportMachineLost'
      | 'ReportRequests'
      | 'ReportStatuses'
      | 'ReportResource'
      | 'ReportDraining'
      | 'ReportSynced'
      | 'ConfirmLease';
  }
>;

/** Those that have the provider stand in for a broker. */
type StandbyCommand = Extract<RelayCommand, { readonly kind: 'KeepReports' | 'AcknowledgeSpooled' | 'StartLeased' }>;

/** What the relay needs. */
export interface RelayOptions {
  readonly providerId: ProviderId;
  /** What the resource is called at its reservation manager; left out where it honours no reservations. */
  readonly resourceId?: string;
  readonly measure: TaskMeasure;
  readonly log: Logger;
  /** Records which agent was admitted with its credential; nothing is recorded when left out. */
  readonly audit?: Audit | undefined;
  readonly clock: Clock;
  /** Keeps copied credentials out. */
  readonly gate: Pick<AgentGate, 'enter' | 'leave'>;
  /** The user whose broker is known by its own name alone. */
  readonly ownerId: UserId;
  deliver(input: ProviderInput): void;
  /** What agents prove for that they read the provider's home folder; empty or left out where it shares none. */
  readonly homeChallenge?: string;
  /** Sees to contents that several agents want; left out where each gets its own from home. */
  readonly contents?: Pick<SiteContents, 'want' | 'answer' | 'forgetTaker' | 'forgetBroker'>;
  /** Stands in for brokers that are away; left out where nobody does. */
  readonly standby?: Standby;
  /** Called when an agent's messages are kept because its broker is away. */
  onKeeping?(agent: AgentLink): void;
  /** Called when an agent's messages go to a broker from now on. */
  onRouted?(agent: AgentLink): void;
  /** Called for a transfer that was offered to a lost machine, so that its giver need not wait. */
  onUntaken?(transferId: string): void;
  /** Called when a request's agents are sent away. */
  onRefused?(requestId: string, error: MutiraoError): void;
}

/** Joins the streams of brokers and agents, as the machine commands. */
export class Relay {
  readonly #options: RelayOptions;
  readonly #brokers = new Map<BrokerId, BrokerLink>();
  readonly #agents = new Map<number, AgentLink>();
  readonly #agentsByMachine = new Map<MachineId, AgentLink>();
  /** Agents that were sent away for good and whose streams have not closed yet. */
  readonly #dropped = new Set<AgentLink>();
  #connectionCount = 0;
  #attachmentCount = 0;
  #droppedCount = 0;

  constructor(options: RelayOptions) {
    this.#options = options;
  }

  /** Messages to machines that were gone. */
  get droppedCount(): number {
    return this.#droppedCount;
  }

  get brokerCount(): number {
    return this.#brokers.size;
  }

  get agentCount(): number {
    return this.#agents.size;
  }

  /** Has all brokers connect again: the clock was set, and they go by what it showed when they were greeted. */
  greetAgain(): void {
    for (const { stream } of [...this.#brokers.values()])
      stream.close(new MutiraoError('MUT_UNREACHABLE', 'the clock of the provider was set'));
  }

  /** Serves a broker's stream. */
  connectBroker(stream: ByteStream, { userId }: Pick<CallContext, 'userId'>): void {
    let link: BrokerLink | undefined;
    stream.listen({
      onMessage: (bytes) => {
        if (link === undefined) link = this.#welcomeBroker(stream, userId, bytes);
        else this.#receiveFromBroker(link, bytes);
      },
      onEnd: () => {
        stream.end();
      },
      onClosed: () => {
        if (link !== undefined) this.#loseBroker(link);
      },
    });
  }

  #welcomeBroker(stream: ByteStream, userId: UserId, bytes: Buffer): BrokerLink {
    const { name, instance, takesStatuses, takesResource } = readBrokerHello(bytes);
    // A broker chooses its name, but not whose it is: nobody takes another user's place.
    const brokerId = userId === this.#options.ownerId ? name : `${userId}/${name}`;
    this.#refuseCopy(brokerId, instance);
    this.#brokers
      .get(brokerId)
      ?.stream.close(new MutiraoError('MUT_CANCELLED', `broker ${brokerId} has connected again`));
    this.#connectionCount += 1;
    const link = new BrokerLink(brokerId, this.#connectionCount, stream, takesStatuses);
    link.instance = instance;
    this.#brokers.set(brokerId, link);
    this.#options.contents?.forgetBroker(brokerId);
    link.write(toBroker({ $case: 'hello', value: this.#hello() }));
    this.#options.log.info({ broker: brokerId }, 'broker connected');
    this.#options.deliver({
      kind: 'BrokerConnected',
      brokerId,
      connectionId: link.connectionId,
      ...(instance === '' ? {} : { instance }),
      ...(takesResource ? { takesResource } : {}),
    });
    return link;
  }

  /**
   * A copied home folder has the name of its original, and another journal: while that one is connected, taking its
   * place would end all that it runs. @throws {MutiraoError}
   */
  #refuseCopy(brokerId: BrokerId, instance: string): void {
    const known = this.#brokers.get(brokerId)?.instance ?? '';
    if (known === '' || instance === '' || known === instance) return;
    throw new MutiraoError(
      'MUT_ALREADY_RUNNING',
      `broker ${brokerId} is connected with another journal (${known}, not ${instance}): this home folder is a ` +
        'copy of one whose broker still runs; stop that one, or remove the file "name" from the folder "broker" ' +
        'of the copy',
    );
  }

  #hello(): HelloWire {
    return ownHello(this.#options.providerId, this.#options.clock.now(), this.#options.resourceId);
  }

  #receiveFromBroker(link: BrokerLink, bytes: Buffer): void {
    const { field, start } = findAlternative(bytes);
    if (field === connectFields.toMachine) {
      this.#passToMachine(link, bytes, start);
    } else if (field === connectFields.demand) {
      const demand = decodeDemand(decodeWith(Demand, bytes, start));
      this.#options.deliver({ kind: 'DemandChanged', brokerId: link.brokerId, demand });
    } else if (field === connectFields.lease && this.#options.standby !== undefined) {
      this.#options.standby.leases.take(link.brokerId, link.connectionId, bytes.subarray(start));
    } else if (field === connectFields.leaseRevocation) {
      this.#options.deliver({
        kind: 'LeaseRevoked',
        brokerId: link.brokerId,
        connectionId: link.connectionId,
        replicaIds: boundList(
          decodeWith(LeaseRevocation, bytes, start).replicaIds,
          'heldReplicas',
          'lease_revocation.replica_ids',
        ),
      });
    } else {
      throw new MutiraoError(
        'MUT_PROTOCOL',
        `alternative ${field} of a connected broker; expected a demand, a lease, a lease revocation or a message ` +
          'to a machine',
      );
    }
  }

  #passToMachine(link: BrokerLink, bytes: Buffer, start: number): void {
    const { machineId, message, field, start: innerStart } = readToMachine(bytes, start);
    const offer = field === blobOfferField ? decodeBlobOffer(decodeWith(BlobOffer, message, innerStart)) : undefined;
    if (offer !== undefined && this.#isForSite(link, machineId, offer)) return;
    if (field === acknowledgedField)
      this.#options.standby?.noteAcknowledged(link.brokerId, machineId, getSequence(message, innerStart));
    const agent = this.#agentsByMachine.get(machineId);
    if (agent?.broker === link) {
      if (field === outputRequestField) agent.requestOutput(message, innerStart);
      else agent.stream.write(message);
      noteOffered(offer, (transferId) => {
        agent.noteOffered(transferId, link.brokerId);
      });
    } else {
      this.#droppedCount += 1; // The machine is gone; the broker learns that separately.
      noteOffered(offer, (transferId) => {
        this.#options.onUntaken?.(transferId);
      });
    }
  }

  /** Whether an answer to what a machine wants was for the site. */
  #isForSite({ brokerId }: BrokerLink, machineId: MachineId, offer: ContentOffer): boolean {
    return this.#options.contents?.answer(brokerId, machineId, offer) ?? false;
  }

  readonly #watchWants = (
    agent: AgentLink,
    { brokerId }: BrokerLink,
    bytes: Buffer,
    start: number,
  ): readonly WantedContent[] | undefined => {
    const wanted = decodeWith(BlobRequest, bytes, start);
    const contents = decodeBlobRequest(wanted);
    agent.noteProofs(decodeReaderProofs(wanted));
    const rest = this.#options.contents?.want(agent, brokerId, contents);
    // Nothing of it was seen to: the message goes on as it is.
    return rest?.every((content, index) => content === contents[index]) === true && rest.length === contents.length
      ? undefined
      : rest;
  };

  #loseBroker(link: BrokerLink): void {
    for (const agent of this.#agents.values()) if (agent.broker === link) agent.route(undefined);
    if (this.#brokers.get(link.brokerId) === link) {
      this.#brokers.delete(link.brokerId);
      this.#options.contents?.forgetBroker(link.brokerId);
    }
    this.#options.log.info({ broker: link.brokerId }, 'broker disconnected');
    this.#options.deliver({ kind: 'BrokerDisconnected', brokerId: link.brokerId, connectionId: link.connectionId });
  }

  /** Serves an agent's stream. */
  attachAgent(stream: ByteStream, context: CallContext): void {
    let link: AgentLink | undefined;
    let hasLeft = false;
    stream.listen({
      onMessage: (bytes) => {
        if (link === undefined) link = this.#welcomeAgent(stream, context, bytes);
        else link.receive(bytes);
      },
      onEnd: () => {
        hasLeft = true;
        stream.end();
      },
      onClosed: () => {
        if (link !== undefined) this.#loseAgent(link, this.#dropped.delete(link) || hasLeft);
      },
    });
  }

  #welcomeAgent(stream: ByteStream, { userId, credential, from }: CallContext, bytes: Buffer): AgentLink {
    const origin = getOrigin(userId);
    const { field, start } = findAlternative(bytes);
    if (field !== attachFields.hello)
      throw new MutiraoError('MUT_PROTOCOL', `alternative ${field} of a new agent; expected its hello`);
    const hello = decodeWith(MachineHello, bytes, start);
    const greeting = decodeHello(hello.hello);
    const reported = decodeMachineFacts(hello.facts);
    boundList(hello.heldReplicaIds, 'heldReplicas', 'hello.held_replica_ids');
    const facts = this.#nameMachine(reported, origin, takesGangs(greeting));
    this.#options.gate.enter(origin, facts.machineId, credential, { who: userId, from });
    this.#closeFormer(facts, origin);
    this.#options.audit?.record({ action: 'credential.use', who: userId, from, target: `machine ${facts.machineId}` });
    this.#attachmentCount += 1;
    const identity = {
      attachmentId: this.#attachmentCount,
      machineId: facts.machineId,
      incarnation: facts.incarnation,
      agentName: reported.machineId,
      requestId: facts.requestId,
      takesOutputRequests: greeting.capabilities.includes(outputCapability),
    };
    const link = new AgentLink(
      identity,
      stream,
      this.#options.measure,
      this.#options.contents === undefined ? undefined : this.#watchWants,
    );
    this.#agents.set(identity.attachmentId, link);
    this.#agentsByMachine.set(facts.machineId, link);
    const { homeChallenge = '' } = this.#options;
    stream.write(
      toAgent({ $case: 'hello', value: { ...this.#hello(), ...(homeChallenge === '' ? {} : { homeChallenge }) } }),
    );
    stream.pause();
    this.#options.log.info({ machine: facts.machineId, held: hello.heldReplicaIds.length }, 'agent attached');
    this.#options.deliver({
      kind: 'AgentAttached',
      attachmentId: identity.attachmentId,
      facts,
      heldReplicaIds: hello.heldReplicaIds,
    });
    return link;
  }

  /**
   * Closes the former connection of a returning agent, or of the agent that a newly invited one replaces for good.
   *
   * Any other process with the same credential is a second one next to a live agent: a copy, or an agent that was
   * started twice. It is refused and may try again; if it were admitted, anyone with a copied credential could displace
   * the agent.
   *
   * @throws {MutiraoError} MUT_MACHINE_ATTACHED
   */
  #closeFormer({ machineId, incarnation }: MachineFacts, origin: AgentOrigin): void {
    const former = this.#agentsByMachine.get(machineId);
    if (former === undefined) return;
    const isSame = former.identity.incarnation === incarnation;
    if (!isSame && !(origin.kind === 'machine' && origin.isInvited)) {
      if (former.noteSecond(this.#options.clock.now()))
        this.#options.log.warn(
          { machine: machineId },
          'refused a second agent with the credential of an attached one: it was ' +
            'started twice, or its credential was copied',
        );
      throw new MutiraoError(
        'MUT_MACHINE_ATTACHED',
        `machine ${machineId} has an agent that is attached now, and this is another one with the same credential`,
      );
    }
    former.stream.close(
      new MutiraoError(
        isSame ? 'MUT_REATTACH' : 'MUT_MACHINE_NAME_TAKEN_OVER',
        `machine ${machineId} has attached again`,
      ),
    );
  }

  /** Sends the agent of a machine away for good, as if it had left. */
  dropMachine(machineId: MachineId, error: MutiraoError): void {
    const link = this.#agentsByMachine.get(machineId);
    if (link === undefined) return;
    this.#dropped.add(link);
    link.stream.close(error);
  }

  /**
   * A machine's name is ours to give: an agent says only which of its allocation's it is, or what its owner calls it.
   */
  #nameMachine(reported: MachineFacts, origin: AgentOrigin, gangs: Pick<MachineFacts, 'takesGangs'>): MachineFacts {
    const { providerId } = this.#options;
    const name = /[\w-]+$/.exec(reported.machineId)?.[0] ?? '';
    const ownName = reported.machineId.startsWith(`${providerId}/`)
      ? reported.machineId.slice(providerId.length + 1)
      : reported.machineId;
    const isRequest = origin.kind === 'request';
    if (!/^.{1,64}$/.test(name) || (!isRequest && !/^(?!\.{1,2}$)[\w.@-]{1,64}$/.test(ownName))) {
      throw new MutiraoError(
        'MUT_BAD_REQUEST',
        `machine id is "${reported.machineId}"; expected up to 64 letters, digits, "_", ".", "@" or "-", after ` +
          `"${providerId}/" or alone`,
      );
    }
    const requestId = isRequest ? origin.requestId : '';
    const machineId = isRequest ? `${providerId}/${requestId}.${name}` : `${providerId}/${ownName}`;
    return {
      ...reported,
      ...gangs,
      ...findOnlyUser(reported, this.#options.ownerId),
      machineId,
      requestId,
      until: isRequest ? undefined : reported.until,
      attributes: { site: providerId, ...reported.attributes },
    };
  }

  #loseAgent(link: AgentLink, hasLeft: boolean): void {
    const { attachmentId, machineId } = link.identity;
    link.route(undefined);
    this.#options.contents?.forgetTaker(link);
    for (const transferId of link.offeredIds) this.#options.onUntaken?.(transferId);
    this.#options.standby?.leave(link);
    this.#agents.delete(attachmentId);
    if (this.#agentsByMachine.get(machineId) === link) {
      this.#agentsByMachine.delete(machineId);
      this.#options.measure.forget(machineId);
      this.#options.gate.leave(machineId);
    }
    this.#options.log.info({ machine: machineId, left: hasLeft }, 'agent detached');
    this.#options.deliver({ kind: 'AgentDetached', machineId, attachmentId, hasLeft });
  }

  /** The agent that calls itself so and has this origin; undefined when it is not attached. */
  findAgent(agentName: string, origin: AgentOrigin): AgentLink | undefined {
    const requestId = origin.kind === 'request' ? origin.requestId : '';
    for (const link of this.#agents.values()) {
      if (link.identity.agentName === agentName && link.identity.requestId === requestId) return link;
    }
    return undefined;
  }

  /**
   * One of these machines takes a transfer: the user whose broker offered it to that machine. Undefined where it was
   * offered to none of them.
   */
  takeOffered(transferId: string, machineIds: readonly MachineId[]): UserId | undefined {
    for (const machineId of machineIds) {
      const brokerId = this.#agentsByMachine.get(machineId)?.takeOffered(transferId);
      if (brokerId !== undefined) return userOfBroker(brokerId, this.#options.ownerId);
    }
    return undefined;
  }

  /** Carries out a command of the machine. */
  perform(command: RelayCommand): void {
    switch (command.kind) {
      case 'ReattachAgent':
        this.#agents
          .get(command.attachmentId)
          ?.stream.close(new MutiraoError('MUT_REATTACH', 'the broker has connected again, or is away'));
        break;
      case 'ClearAgent':
        this.#agents.get(command.attachmentId)?.clear(command.heldReplicaIds);
        break;
      case 'RefuseAgent':
        this.#refuseAgent(command);
        break;
      case 'KeepReports':
      case 'AcknowledgeSpooled':
      case 'StartLeased':
        this.#standIn(command);
        break;
      default:
        this.#report(command);
    }
  }

  #standIn(command: StandbyCommand): void {
    const agent = this.#agents.get(command.attachmentId);
    const { standby } = this.#options;
    if (agent === undefined || standby === undefined) return; // The agent is gone and will repeat its report.
    switch (command.kind) {
      case 'KeepReports':
        standby.keep(agent);
        this.#options.onKeeping?.(agent);
        break;
      case 'AcknowledgeSpooled':
        standby.acknowledge(agent, command.sequence);
        break;
      case 'StartLeased':
        this.#reportServed(agent, command.brokerId);
        for (const message of standby.startsFor(agent, command)) agent.stream.write(message);
        break;
    }
  }

  #reportServed(agent: AgentLink, brokerId: BrokerId): void {
    const { ownerId } = this.#options;
    agent.reportServed(userOfBroker(brokerId, ownerId), ownerId);
  }

  #refuseAgent({ attachmentId, code, requestId }: RelayCommand & { kind: 'RefuseAgent' }): void {
    const agent = this.#agents.get(attachmentId);
    if (agent === undefined) return;
    const error = errorOfCode(code, `request ${requestId} is over`);
    agent.stream.close(error);
    this.#options.onRefused?.(agent.identity.requestId, error);
  }

  #report(command: ReportCommand): void {
    const broker = this.#brokers.get(command.brokerId);
    if (broker === undefined) return; // The broker is gone; the machine learns it in its next step.
    switch (command.kind) {
      case 'ReportMachineJoined':
        this.#reportJoined(broker, command);
        break;
      case 'ReportMachineLost':
        this.#agentsByMachine.get(command.machineId)?.route(undefined);
        broker.write(toBroker({ $case: 'lost', value: { machineId: command.machineId, reason: command.reason } }));
        break;
      case 'ReportRequests':
        broker.write(
          toBroker({ $case: 'requests', value: { requests: command.requests.map(encodeAllocationRequest) } }),
        );
        break;
      case 'ReportStatuses':
        if (broker.takesStatuses)
          broker.write(toBroker({ $case: 'statuses', value: { statuses: command.statuses.map(encodeStatus) } }));
        break;
      case 'ReportDraining':
        broker.write(toBroker({ $case: 'draining', value: encodeDraining(command.draining) }));
        break;
      case 'ReportResource':
        broker.write(toBroker({ $case: 'resource', value: encodeResourceStatus(command.resourceStatus) }));
        break;
      case 'ReportSynced':
        broker.write(toBroker({ $case: 'settled', value: {} }));
        this.#options.standby?.sweepOutputs(command.brokerId);
        break;
      case 'ConfirmLease':
        broker.write(toBroker({ $case: 'leaseConfirmed', value: { sequence: command.sequence } }));
        break;
    }
  }

  /** What was kept of a machine goes before what its agent says now. */
  #reportJoined(
    broker: BrokerLink,
    { facts, heldReplicaIds, keptSequences = [], isGone }: RelayCommand & { kind: 'ReportMachineJoined' },
  ): void {
    broker.write(
      toBroker({
        $case: 'joined',
        value: { facts: encodeMachineFacts(facts), heldReplicaIds: [...heldReplicaIds], ...(isGone ? { isGone } : {}) },
      }),
    );
    const { standby } = this.#options;
    const agent = isGone ? undefined : this.#agentsByMachine.get(facts.machineId);
    if (agent !== undefined) this.#reportServed(agent, broker.brokerId);
    agent?.route(broker, standby !== undefined);
    if (agent !== undefined) standby?.leave(agent);
    const then = (): void => {
      if (agent?.broker !== broker) return;
      agent.letGo(broker);
      this.#options.onRouted?.(agent);
    };
    if (standby === undefined) then();
    else standby.deliveryTo(broker).deliver(facts, keptSequences, then);
  }

  /** Announces an output that was kept for a machine's broker, if the broker is back. */
  announceKept(machineId: MachineId, transferId: string): void {
    const broker = this.#agentsByMachine.get(machineId)?.broker;
    if (broker !== undefined) this.#options.standby?.deliveryTo(broker).announce(transferId);
  }

  /** Sends a message to a broker; nothing while it is away. */
  reportBroker(brokerId: BrokerId, message: Buffer): void {
    this.#brokers.get(brokerId)?.write(message);
  }
}

/** Calls `note` with the transfer of an offer that has one. */
function noteOffered(offer: ContentOffer | undefined, note: (transferId: string) => void): void {
  if (offer?.source.kind === 'transfer') note(offer.source.transferId);
}
