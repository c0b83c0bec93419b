import { hostname } from 'node:os';
import { join } from 'node:path';
import {
  createProviderState,
  takeSnapshot,
  isPending,
  isServing,
  isWatching,
  listUses,
  measureInterval,
  providerMachine,
  saveProviderInitialState,
  restoreSnapshot,
  type ProviderChange,
  type ProviderCommand,
  type ProviderConfig,
  type ProviderInput,
  type ProviderSnapshot,
  type ProviderState,
} from '@mutirao/core/machines/provider';
import type { QuotaRules } from '@mutirao/core/quotas';
import {
  unreachable,
  type Bytes,
  type DriverCommand,
  type Duration,
  type ProcessorCount,
  type RequestId,
  type UserId,
} from '@mutirao/core/shared';
import { MutiraoError } from '@mutirao/api/errors';
import type { ResourceManager } from '@mutirao/managers';
import type { Audit } from '@mutirao/runtime/audit';
import {
  MachineDriver,
  openTrace,
  steadyClock,
  systemClock,
  systemTimers,
  reportStalled,
} from '@mutirao/runtime/driver';
import { ensureToken, HomeProver, makeToken } from '@mutirao/runtime/files';
import { onOneLine, readHostIdentity } from '@mutirao/runtime/identity';
import { findFreshNumber, openJournal, type Journal } from '@mutirao/runtime/journal';
import type { Logger } from '@mutirao/runtime/log';
import { InFlightBytes } from '@mutirao/runtime/memory';
import type { Metrics } from '@mutirao/runtime/metrics';
import {
  farAddress,
  parseAddress,
  serve,
  type RunningServer,
  type ServiceBinding,
  type TokenCheck,
} from '@mutirao/runtime/rpc';
import { agentEnvironment, type AgentStart } from './agent-environment.ts';
import { AgentGate } from './agent-gate.ts';
import { providerChangeCodec } from './change-codec.ts';
import { AgentCredentials } from './credentials.ts';
import { SiteContents } from './contents/site-contents.ts';
import { SiteStore } from './contents/site-store.ts';
import { userOfBroker } from './user-of-broker.ts';
import { openStandby, type OpenedStandby } from './standby/open-standby.ts';
import { MachineCredentials } from './machines/machine-credentials.ts';
import type { EnrolledMachines } from './machines/enrolled-machines.ts';
import { logChange } from './log-change.ts';
import { measureProvider } from './measure-provider.ts';
import { TaskMeasure } from './relay/measure.ts';
import { Relay } from './relay/relay.ts';
import { describeHeld } from './reservations/describe-held.ts';
import { ProvisioningFollower, type ProvisioningFollowerOptions } from './reservations/provisioning-follower.ts';
import { ReservationSync, type ReservationSyncOptions } from './reservations/reservation-sync.ts';
import { QueueWatcher } from './resource/queue-watcher.ts';
import { Submitter } from './resource/submitter.ts';
import { machineService, providerService } from './routes.ts';
import { PushedContents } from './transfers/pushed-contents.ts';
import { TransferExchange } from './transfers/transfer-exchange.ts';

/** What a provider process is started with. */
export interface ProviderSetup {
  readonly config: ProviderConfig;
  /** The home folder, which agents may share. */
  readonly home: string;
  /** Holds the journal and the secrets; `providers/<id>` of the home folder. */
  readonly directory: string;
  /** `host:port`s to listen on, the first that is free. */
  readonly listen: readonly string[];
  /** Where agents are served instead of there, the first that is free; empty for the same place. */
  readonly listenAgents: readonly string[];
  /** By what address agents reach it; empty for what it listens on. */
  readonly advertise: string;
  /** Who brokers are. */
  readonly tokens: TokenCheck;
  /** Who may change what the provider does. */
  readonly ownerId: UserId;
  /** Folder of the identity that serving other hosts wants. */
  readonly identity: string;
  /** Undefined where machines attach by themselves. */
  readonly manager: ResourceManager | undefined;
  /** The reservation manager to follow; undefined or left out for none. */
  readonly reservations?: Pick<ReservationSyncOptions, 'address' | 'resourceId' | 'token' | 'trust'> | undefined;
  /** The program that each processor of an allocation runs. */
  readonly agentCommand: readonly string[];
  /** Where Mutirao's files are on the machines of the resource; empty for the agent's own choice. */
  readonly agentHome: string;
  /** Agents of allocations give up after this time without the provider; 0 for their own choice. */
  readonly agentOrphanTimeout: Duration;
  /** As `--isolation` says it to agents; empty for their own choice. */
  readonly agentIsolation: string;
  /** Time between two readings of the queue when nothing hints at a change. */
  readonly queueInterval: Duration;
  /** Most bytes of contents that are kept for the agents; 0 or left out for none. */
  readonly contentBytesMax?: Bytes;
  /** Most bytes of outputs that are kept while their broker is away; left out for 0. */
  readonly spoolBytesMax?: Bytes;
  /** Keeps time-shared machines; left out where a resource manager gives machines. */
  readonly enrolled?: EnrolledMachines;
  /** Where a debugging trace goes; empty or left out for none. */
  readonly trace?: string;
  /** Where it is written down who did what; nowhere when left out. */
  readonly audit?: Audit;
  /** What users may take; no bounds when left out. */
  readonly quotas?: QuotaRules;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Receives the error after which the process should start again. */
  onFatal(error: unknown): void;
}

/** A provider that serves brokers and agents. */
export interface RunningProvider {
  readonly address: string;
  /** Where agents are served. */
  readonly agentsAddress: string;
  /** The address that agents dial, which differs if they reach the provider by another one. */
  readonly agentsDial: string;
  /**
   * Invites a machine of the owner's and answers the one-time secret for its agent. @throws {MutiraoError}
   * MUT_DISK_FULL
   */
  invite(name: string): string;
  readonly state: ProviderState;
  /** What is wrong; undefined while all is well. */
  trouble(): string | undefined;
  /** Takes out all requests, also what runs, and resolves when the manager has none left, or after `patience`. */
  giveBack(reason: string, patience: Duration): Promise<void>;
  /** Takes no more calls. Requests stay as they are, and agents wait for the next start. */
  stop(): Promise<void>;
}

type ProviderDriver = MachineDriver<ProviderState, ProviderInput, ProviderChange, ProviderCommand>;

/** Time that calls get to end when the process stops. */
const drainMs = 500;
/** What keeps a server from one address and not from the next. */
const unusableAddress: readonly string[] = ['MUT_ADDRESS_TAKEN', 'MUT_ALREADY_RUNNING', 'MUT_BAD_CONFIG'];
/** Longest wait of one half of a transfer for the other. */
const transferWaitMax = 60_000;
const transfersMax = 10_000;
/** The beginning of a content that nobody has gone on with for longer goes. */
const partAgeMax = 24 * 3_600_000;
/** Ended requests that a listing shows. */
const endedListedMax = 50;
/** Changes to replay from which on a snapshot is worth its while. */
const changesPerSnapshot = 1_000;
/** Time between two looks at what has been given back. */
const giveBackPoll = 50;

/**
 * Reads the journal, serves, and begins to watch the resource. @throws {MutiraoError} when the journal or the address
 * cannot be had.
 */
export async function startProvider(setup: ProviderSetup): Promise<RunningProvider> {
  const journal = openJournal({ path: join(setup.directory, 'journal.sqlite'), codec: providerChangeCodec });
  const process = new ProviderProcess(setup, journal);
  try {
    return await process.start();
  } catch (error) {
    journal.close();
    throw error;
  }
}

/** The parts of a provider, joined. */
class ProviderProcess {
  readonly #setup: ProviderSetup;
  readonly #journal: Journal<ProviderChange>;
  readonly #state: ProviderState;
  readonly #driver: ProviderDriver;
  readonly #credentials: AgentCredentials;
  readonly #measure = new TaskMeasure(systemClock);
  readonly #passing = new InFlightBytes();
  readonly #exchange = new TransferExchange({
    timers: systemTimers,
    waitMax: transferWaitMax,
    transfersMax,
    passing: this.#passing,
  });
  readonly #prover: HomeProver;
  readonly #contents: SiteContents | undefined;
  readonly #pushed = new PushedContents();
  readonly #opened: OpenedStandby;
  readonly #relay: Relay;
  readonly #submitter: Submitter | undefined;
  readonly #watcher: QueueWatcher | undefined;
  readonly #reservationSync: ReservationSync | undefined;
  readonly #holding: ProvisioningFollower | undefined;
  readonly #machines: MachineCredentials;
  #measureTimer: unknown;
  readonly #deliver = (input: ProviderInput): void => {
    this.#driver.deliver(input);
  };
  readonly #gate: AgentGate;
  /** The address that agents dial, and the authority that they trust there. */
  #agentStart: Pick<AgentStart, 'address' | 'authority'> = { address: '', authority: '' };

  constructor(setup: ProviderSetup, journal: Journal<ProviderChange>) {
    const { config, directory } = setup;
    this.#setup = setup;
    this.#journal = journal;
    this.#state = recover(journal, config);
    this.#machines = new MachineCredentials(journal.database, systemClock, setup.audit);
    this.#credentials = new AgentCredentials(ensureToken(join(directory, 'secret')), this.#machines);
    this.#gate = new AgentGate(
      journal.database,
      { findWidth: (requestId) => findWidth(this.#state, requestId) },
      this.#machines,
    );
    // A process that was killed after it had journaled that a request waits again may have left the secrets of its
    // first agents.
    for (const { requestId, status } of this.#state.requests.values())
      if (status === 'queued') this.#gate.forgetRequest(requestId);
    this.#prover = HomeProver.ofHome((setup.contentBytesMax ?? 0) === 0 ? '' : setup.home);
    this.#contents = this.#openContents();
    this.#opened = this.#openStandby();
    this.#relay = this.#openRelay();
    this.#driver = this.#openDriver();
    const { reservationSync, holding } = openReservations(setup, {
      inUse: () => listUses(this.#state),
      deliver: this.#deliver,
    });
    this.#reservationSync = reservationSync;
    this.#holding = holding;
    this.#submitter = this.#openSubmitter();
    this.#watcher = this.#openWatcher();
  }

  async start(): Promise<RunningProvider> {
    const { metrics } = this.#setup;
    const { users, agents } = await this.#serve();
    this.#agentStart = getAgentStart(this.#setup, agents.address);
    this.#driver.deliver({ kind: 'ProviderStarted', instance: makeToken().replaceAll(/\W/g, '').slice(0, 12) });
    this.#opened.resume();
    this.#watcher?.start();
    this.#reservationSync?.start();
    this.#holding?.start();
    this.#reportTaskTimes();
    measureProvider(metrics, {
      state: this.#state,
      relay: this.#relay,
      exchange: this.#exchange,
      outputs: this.#opened.outputs,
      measure: this.#measure,
      contents: this.#contents,
    });
    return {
      address: users.address,
      agentsAddress: agents.address,
      agentsDial: this.#agentStart.address,
      invite: (name) => this.#machines.invite(name, 0).secret,
      state: this.#state,
      trouble: () => this.#trouble() ?? (this.#opened.standby.trouble || undefined),
      giveBack: (reason, patience) => this.#giveBack(reason, patience),
      stop: () => this.#stop(users === agents ? [users] : [users, agents]),
    };
  }

  #openStandby(): OpenedStandby {
    const { directory, ownerId, spoolBytesMax = 0, quotas, log } = this.#setup;
    return openStandby({
      directory,
      database: this.#journal.database,
      state: this.#state,
      ownerId,
      spoolBytesMax,
      quotas,
      contents: this.#contents,
      measure: this.#measure,
      log,
      deliver: this.#deliver,
      reportBroker: (brokerId, message) => {
        this.#relay.reportBroker(brokerId, message);
      },
    });
  }

  #openRelay(): Relay {
    const { config, log, audit, ownerId } = this.#setup;
    return new Relay({
      standby: this.#opened.standby,
      providerId: config.providerId,
      ...resourceOf(this.#setup),
      measure: this.#measure,
      log,
      audit,
      clock: systemClock,
      deliver: this.#deliver,
      gate: this.#gate,
      ownerId,
      ...(this.#contents === undefined ? {} : { contents: this.#contents, homeChallenge: this.#prover.challenge }),
      onKeeping: (agent) => {
        this.#pushed.divert(agent);
      },
      onRouted: (agent) => {
        this.#pushed.repeat(agent);
      },
      onUntaken: (transferId) => {
        this.#exchange.decline(transferId);
      },
      onRefused: (requestId, error) => {
        this.#exchange.failRequest(requestId, error);
      },
    });
  }

  #openDriver(): ProviderDriver {
    const { log, onFatal, trace = '' } = this.#setup;
    return new MachineDriver<ProviderState, ProviderInput, ProviderChange, ProviderCommand>({
      machine: providerMachine,
      state: this.#state,
      journal: this.#journal,
      clock: systemClock,
      checkEvery: 100,
      perform: (command) => {
        this.#perform(command);
      },
      onCommitted: (entries) => {
        for (const { change } of entries) this.#onCommitted(change);
      },
      onFatal,
      onStalled: (error) => {
        reportStalled(log, error);
      },
      onClockStepped: (by) => {
        this.#followClock(by);
      },
      trace: openTrace({
        path: trace,
        machine: 'provider',
        at: systemClock.now(),
        log,
        describe: () => saveProviderInitialState(this.#state),
      }),
    });
  }

  #onCommitted(change: ProviderChange): void {
    logChange(this.#setup.log, change);
    this.#opened.receive(change);
    // The agents of its next start make secrets of their own.
    if (change.kind === 'RequestEnded' || change.kind === 'RequestRequeued') this.#gate.forgetRequest(change.requestId);
    if (change.kind === 'RequestStarted' || change.kind === 'HeldGiven') this.#noteUse(change.requestId);
  }

  /** Undefined where machines attach by themselves. */
  #openSubmitter(): Submitter | undefined {
    const { manager, log, config, agentCommand, agentHome, agentOrphanTimeout, agentIsolation } = this.#setup;
    if (manager === undefined) return undefined;
    const reservationSync = this.#reservationSync;
    return new Submitter({
      manager,
      timers: systemTimers,
      log,
      random: Math.random,
      deliver: this.#deliver,
      ...(reservationSync === undefined ? {} : { admit: (reservation) => reservationSync.admit(reservation) }),
      orderOf: ({ requestId }) => ({
        command: agentCommand,
        workingDirectory: '',
        environment: agentEnvironment({
          ...this.#agentStart,
          providerId: config.providerId,
          requestId,
          credential: this.#credentials.of(requestId),
          home: agentHome,
          orphanTimeout: agentOrphanTimeout,
          isolation: agentIsolation,
        }),
      }),
    });
  }

  /** Undefined where machines attach by themselves: there is no queue. */
  #openWatcher(): QueueWatcher | undefined {
    const { manager, log, config, queueInterval } = this.#setup;
    if (manager === undefined) return undefined;
    return new QueueWatcher({
      manager,
      timers: systemTimers,
      log,
      random: Math.random,
      userId: config.userId,
      clock: systemClock,
      interval: queueInterval,
      endedMax: endedListedMax,
      deliver: (input) => {
        // A listing may show that a request ended, and what is asked for next depends on what its tasks took.
        this.#reportMeasured();
        this.#deliver(input);
      },
    });
  }

  #followClock(by: Duration): void {
    this.#measure.moveClock(by);
    this.#relay.greetAgain();
  }

  #noteUse(requestId: RequestId): void {
    const reservation = this.#state.requests.get(requestId)?.reservation;
    if (reservation !== undefined) (this.#holding ?? this.#reservationSync)?.noteUse(reservation);
  }

  #openContents(): SiteContents | undefined {
    const { contentBytesMax = 0, directory, log } = this.#setup;
    if (contentBytesMax === 0) return undefined;
    const store = new SiteStore({
      folder: join(directory, 'contents'),
      bytesMax: contentBytesMax,
      now: systemClock.now(),
      partAgeMax,
    });
    return new SiteContents({
      store,
      prover: this.#prover,
      exchange: this.#exchange,
      getUser: (brokerId) => userOfBroker(brokerId, this.#setup.ownerId),
      clock: steadyClock,
      log,
      passing: this.#passing,
    });
  }

  /** Why nothing new is taken, a full disk for example; undefined while it is. */
  #stall(): string | undefined {
    return this.#driver.stalledBy?.message;
  }

  #trouble(): string | undefined {
    const stall = this.#stall();
    if (stall !== undefined) return stall;
    const trouble = this.#watcher?.trouble ?? '';
    return trouble === '' ? undefined : `cannot read the queue: ${trouble}`;
  }

  /** The server of brokers, and that of agents, which may be the same. */
  async #serve(): Promise<{ readonly users: RunningServer; readonly agents: RunningServer }> {
    const { listen, listenAgents, ownerId } = this.#setup;
    const host = {
      usesOf: (userId: UserId) => [
        this.#opened.spoolQuota.useOf(userId),
        ...users.usesOf(userId),
        ...(agents ?? users).machineUses(),
        ...this.#opened.spoolQuota.machineUses(),
      ],
      gate: this.#gate,
      machines: this.#machines,
      agentsPlace: () => this.#agentStart,
      ownerId,
      enrolled: this.#setup.enrolled,
      state: this.#state,
      clock: systemClock,
      relay: this.#relay,
      exchange: this.#exchange,
      pushed: this.#pushed,
      standby: this.#opened.standby,
      ...(this.#contents === undefined ? {} : { contents: this.#contents }),
      trouble: () => this.#stall(),
      queueTrouble: () => this.#watcher?.trouble ?? '',
      reservations: () => [...(this.#reservationSync?.describe() ?? []), ...describeHeld(this.#state)],
      ask: <T>(make: (replyTo: number) => ProviderInput): Promise<T> => this.#driver.ask<T>(make),
    };
    let agents: RunningServer | undefined;
    const [forBrokers, forAgents] = [providerService(host), machineService(host, this.#credentials)];
    const users: RunningServer = await this.#serveAt(
      listen,
      listenAgents.length === 0 ? [forBrokers, forAgents] : [forBrokers],
    );
    if (listenAgents.length === 0) return { users, agents: users };
    try {
      agents = await this.#serveAt(listenAgents, [forAgents]);
      return { users, agents };
    } catch (error) {
      await users.drain(0);
      throw error;
    }
  }

  /** Agents find a provider that was started again where it was before, if the port is still free. */
  async #serveAt(addresses: readonly string[], services: readonly ServiceBinding[]): Promise<RunningServer> {
    const { tokens, identity, log, metrics, audit, quotas } = this.#setup;
    for (const [index, address] of addresses.entries()) {
      try {
        return await serve({
          address,
          tokens,
          identity,
          log,
          metrics,
          services,
          ...(audit === undefined ? {} : { audit }),
          ...(quotas === undefined ? {} : { quotas }),
        });
      } catch (error) {
        if (!(error instanceof MutiraoError) || !unusableAddress.includes(error.code) || index === addresses.length - 1)
          throw error;
        log.warn({ address, reason: error.message }, 'cannot use the configured address; using another one');
      }
    }
    throw new MutiraoError('MUT_BAD_CONFIG', 'no address to listen on');
  }

  #perform(command: Exclude<ProviderCommand, DriverCommand>): void {
    switch (command.kind) {
      case 'SubmitRequest':
        void this.#submitter?.submit(command).then(() => {
          this.#watcher?.hint();
        });
        break;
      case 'JudgeClaim':
        void this.#holding?.judge(command.reservation);
        break;
      case 'ReportProvisioning':
        this.#holding?.noteProvisioning(command.reservationId, command.ahead);
        break;
      case 'ReleaseRequest':
        void this.#submitter?.release(command);
        break;
      case 'ReportMachineJoined':
      case 'ReportMachineLost':
      case 'ReportRequests':
      case 'ReportStatuses':
      case 'ReportResource':
      case 'ReportSynced':
      case 'ReattachAgent':
      case 'ClearAgent':
      case 'RefuseAgent':
      case 'ReportDraining':
      case 'KeepReports':
      case 'AcknowledgeSpooled':
      case 'StartLeased':
      case 'ConfirmLease':
        this.#relay.perform(command);
        break;
      default:
        unreachable(command);
    }
  }

  #reportMeasured(): void {
    for (const input of this.#measure.take()) this.#driver.deliver(input);
    const running = this.#measure.takeRunning();
    if (running !== undefined && isWatching(this.#state)) this.#driver.deliver(running);
  }

  #reportTaskTimes(): void {
    this.#reportMeasured();
    this.#measureTimer = systemTimers.start(measureInterval, () => {
      this.#reportTaskTimes();
    });
  }

  async #giveBack(reason: string, patience: Duration): Promise<void> {
    const until = steadyClock.now() + patience;
    await this.#driver.ask<undefined>((replyTo) => ({ kind: 'GiveBackAsked', replyTo, reason }));
    const countLeft = (): number => [...this.#state.requests.values()].filter(isPending).length;
    while (countLeft() > 0 && steadyClock.now() < until)
      await new Promise<void>((resolve) => {
        systemTimers.start(giveBackPoll, resolve);
      });
    const left = countLeft();
    if (left > 0)
      this.#setup.log.warn(
        { left },
        'stopped with requests at the resource manager; those that start end by themselves',
      );
  }

  async #stop(servers: readonly RunningServer[]): Promise<void> {
    this.#watcher?.stop();
    await this.#reservationSync?.stop();
    await this.#holding?.stop();
    systemTimers.cancel(this.#measureTimer);
    this.#opened.standby.close();
    this.#reportMeasured();
    // The driver first: agents that are sent away now are not lost, they wait for the next start.
    await this.#driver.stop();
    await Promise.all(servers.map((server) => server.drain(drainMs)));
    this.#setup.manager?.close();
    this.#journal.close();
  }
}

/** Who sees to what is reserved of the resource. */
interface ReservationParts {
  readonly reservationSync: ReservationSync | undefined;
  readonly holding: ProvisioningFollower | undefined;
}

/** Asks ahead for what is reserved of the resource, where that is wanted; else has its site keep it, where that can. */
function openReservations(
  {
    reservations,
    manager,
    directory,
    queueInterval: interval,
    config: { userId, holding },
    log,
    onFatal,
  }: ProviderSetup,
  { inUse, deliver }: Pick<ProvisioningFollowerOptions, 'inUse' | 'deliver'>,
): ReservationParts {
  if (reservations === undefined || manager === undefined) return { reservationSync: undefined, holding: undefined };
  const followed = {
    ...reservations,
    ...(inUse === undefined ? {} : { inUse }),
    directory,
    interval,
    log,
    processors: async () => (await manager.limits(userId)).processors,
  };
  if (holding !== undefined)
    return { reservationSync: undefined, holding: new ProvisioningFollower({ ...followed, deliver }) };
  const site = manager.siteReservations;
  return {
    reservationSync: site === undefined ? undefined : new ReservationSync({ ...followed, site, onFatal }),
    holding: undefined,
  };
}

/** The name of the resource at its reservation manager, as reported to brokers. */
function resourceOf({ manager, reservations, config: { holding } }: ProviderSetup): { readonly resourceId?: string } {
  const resourceId = holding === undefined ? manager?.reservationResource : reservations?.resourceId;
  return resourceId === undefined ? {} : { resourceId };
}

/** Processors of a request whose agents are welcome; 0 for any other. */
function findWidth({ requests }: ProviderState, requestId: RequestId): ProcessorCount {
  const request = requests.get(requestId);
  return request !== undefined && isServing(request) ? request.width : 0;
}

/** What the agents of allocations need to find this provider. @throws {MutiraoError} MUT_BAD_CONFIG */
function getAgentStart(
  { advertise, identity }: ProviderSetup,
  bound: string,
): Pick<AgentStart, 'address' | 'authority'> {
  const address = farAddress(bound, advertise, hostname());
  return { address, authority: parseAddress(address).isTls ? onOneLine(readHostIdentity(identity).authority) : '' };
}

/** Reads snapshot and journal; where there was much to replay, the next start finds a newer snapshot. */
function recover(journal: Journal<ProviderChange>, config: ProviderConfig): ProviderState {
  const snapshot = journal.latestSnapshot();
  const state =
    snapshot === undefined
      ? createProviderState(config)
      : restoreSnapshot(config, JSON.parse(snapshot.body) as ProviderSnapshot);
  let replayed = 0;
  journal.replay(snapshot?.sequence ?? 0, (_sequence, change) => {
    providerMachine.apply(state, change);
    replayed += 1;
  });
  state.nextRequestNumber = findFreshNumber(journal, { name: 'next_request', next: state.nextRequestNumber });
  journal.keepHost();
  if (replayed >= changesPerSnapshot)
    journal.writeSnapshot(journal.lastSequence(), JSON.stringify(takeSnapshot(state)));
  return state;
}
