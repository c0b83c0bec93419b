import { randomBytes } from 'node:crypto';
import { join } from 'node:path';

import { encodeEvents } from '@mutirao/api/events';
import {
  listEvents,
  outputsOn,
  resume,
  saveBrokerInitialState,
  type ReplicaEnding,
  type BrokerChange,
  type BrokerCommand,
  type BrokerInput,
  type BrokerOptions,
  type BrokerState,
  brokerMachine,
} from '@mutirao/core/machines/broker';
import type {
  Bytes,
  DriverCommand,
  Duration,
  Instant,
  JobId,
  MachineId,
  ProviderId,
  UserId,
} from '@mutirao/core/shared';
import type { Audit } from '@mutirao/runtime/audit';
import {
  MachineDriver,
  openTrace,
  steadyClock,
  systemClock,
  systemTimers,
  reportStalled,
  type CommittedChange,
} from '@mutirao/runtime/driver';
import { createPublisher, type ConnectEvents, type EventPublisher } from '@mutirao/runtime/events';
import { identityFolder, userTrust } from '@mutirao/runtime/identity';
import { openJournal, type Journal } from '@mutirao/runtime/journal';
import {
  type HomeProver,
  isFullDisk,
  removeFreshFolders,
  removeTree,
  Room,
  tokenOfProvider,
} from '@mutirao/runtime/files';
import type { Logger } from '@mutirao/runtime/log';
import type { Metrics } from '@mutirao/runtime/metrics';
import { jobBytesMax, serve, type RunningServer, type TokenCheck } from '@mutirao/runtime/rpc';

import { Blobs } from '../contents/blobs.ts';
import { Intermediates } from '../contents/intermediates.ts';
import { Gatherer } from '../gathering/gatherer.ts';
import { JobWatchers } from '../events/job-watchers.ts';
import { changeCodec } from '../journal/change-codec.ts';
import { JobEraser } from '../journal/erase-jobs.ts';
import { JobSpecs } from '../journal/job-specs.ts';
import type { JournalInstance } from '../journal/journal-instance.ts';
import { JournalRecords, type Records } from '../journal/records.ts';
import { timeJournal } from '../journal/timed-journal.ts';
import { LiveOutputs } from '../live-output/live-outputs.ts';
import { stateSharedHome } from '../providers/shared-home.ts';
import { NamedContents } from '../providers/named-contents.ts';
import { ProviderQueues } from '../providers/provider-queues.ts';
import { configureProviders } from './configure-providers.ts';
import { ProviderLinks } from '../providers/provider-links.ts';
import { LeaseStager } from '../providers/lease-stager.ts';
import { ToProvider } from '../providers/to-provider.ts';
import { ResultAcceptor, type ResultStores } from '../results/accept-result.ts';
import { Arrivals } from '../results/arrivals.ts';
import { UnreportedBytes } from '../results/unreported-bytes.ts';
import { Checks } from '../results/checks.ts';
import { ResultDigester } from '../results/digest-result.ts';
import type { BrokerDriver, BrokerParts } from '../routes/broker-parts.ts';
import { brokerService } from '../routes/broker-service.ts';
import { FileHashes } from '../staging/file-hashes.ts';
import { GangSecrets } from '../staging/gang-secrets.ts';
import { hashFile } from '../staging/hash-file.ts';
import { HomeFiles } from '../staging/home-files.ts';
import { HomeSharing } from '../staging/home-sharing.ts';
import { Stager, type StagedBatch, type StageOrder } from '../staging/stager.ts';
import { groupOfTask, valueOfTask } from '../staging/task-of-job.ts';
import { TaskOutputs } from '../staging/task-outputs.ts';
import { OtherJobsPlaces } from '../submission/other-jobs-places.ts';
import type { WorkFolderRules } from '../submission/place-in-folder.ts';
import { SerialExecutor } from '../concurrency/serial-executor.ts';
import { BrokerMetrics } from './broker-metrics.ts';
import { listForbiddenFolders } from './forbidden-folders.ts';
import { knownReplicas } from './known-replicas.ts';
import { openOwnReservations, type OwnReservations } from './own-reservations.ts';
import { getOrder, ordersOfMachine, getParts, performCommand, type Performers } from './perform-command.ts';
import { restoreState } from './restore-state.ts';
import { Snapshots } from './snapshots.ts';

/** What a broker process is started with. */
export interface BrokerSetup {
  /** Mutirao's home folder. */
  readonly home: string;
  /** `host:port` to listen on. */
  readonly listen: string;
  readonly tokens: TokenCheck;
  /** The token that providers want. */
  readonly token: string;
  readonly ownerId: UserId;
  /** Names this broker to its providers, also after a restart. */
  readonly brokerId: string;
  readonly programVersion: string;
  /** Providers to use from now on, in addition to those that the journal knows. */
  readonly providers: readonly { readonly providerId: ProviderId; readonly address: string }[];
  /** Those of an earlier grid, which are removed if they are still known at that address. */
  readonly formerProviders: readonly { readonly providerId: ProviderId; readonly address: string }[];
  readonly options: Partial<BrokerOptions>;
  readonly checkDeadline: Duration;
  readonly checksMax: number;
  readonly blobBytesMax: Bytes;
  /** How long what tasks wrote for other tasks is kept after their job has finished. */
  readonly keepIntermediates: Duration;
  /** Address of the reservation manager to which jobs' own reservations are given back; empty or left out for none. */
  readonly reservations?: string;
  /** Where a debugging trace goes; empty or left out for none. */
  readonly trace?: string;
  /** The way to where events are published; left out where they are not. */
  readonly connectEvents?: ConnectEvents | undefined;
  /** Where it is written down who did what; nowhere when left out. */
  readonly audit?: Audit;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Receives the error after which the process should start again. */
  onFatal(error: unknown): void;
}

/** A broker that takes calls. */
export interface RunningBroker {
  readonly address: string;
  readonly state: BrokerState;
  /** What is wrong; undefined while all is well. */
  trouble(): string | undefined;
  /**
   * Finishes what is in the inbox, keeps a snapshot, and ends. Jobs go on when a broker is started on the same home.
   */
  stop(): Promise<void>;
}

/** Time that calls get to end when the process stops. */
const drainGrace = 1000;
/** Time that events get to be published when the process stops. */
const publishGrace = 1000;
/** Outputs that nobody asked for any more are removed after a week. */
const arrivalAgeMax = 7 * 24 * 3_600_000;
const placingsMax = 16;
/** So large that there are few volumes, and small enough to be copied, and kept on any file system. */
const volumeBytesMax: Bytes = 1024 ** 3;
/** Between two looks for what tasks wrote for each other and nobody reads any more. */
const sweepPause: Duration = 3_600_000;
/** With less room than this no job is taken: what runs can still be written down. */
const freeMin: Bytes = 8 * 1024 ** 2;
/** Pause before what found no room is tried again. */
const fullPause: Duration = 500;
/** Turns between two checks of the invariants, which cost as much as the state is large. */
const checkEvery = 10_000;

/**
 * Takes up where the journal ends, and serves. @throws {MutiraoError} MUT_ALREADY_RUNNING when the home has a broker.
 */
export async function startBroker(setup: BrokerSetup): Promise<RunningBroker> {
  const { log } = setup;
  const folder = join(setup.home, 'broker');
  const journal = openJournal({ path: join(folder, 'journal.sqlite'), codec: changeCodec });
  // Left by a broker that was killed. Only now: of one that runs, whose journal cannot be opened, it would take the
  // results from under their checks.
  removeFreshFolders(getChecksFolder(setup.home));
  const restored = restoreState(journal, setup.options);
  const { state } = restored;
  log.info(
    {
      jobs: state.jobs.size,
      replicas: state.replicas.size,
      snapshot: restored.snapshotAt,
      replayed: restored.replayedCount,
    },
    'read the journal',
  );
  const { quotas } = state.options;
  const unreported = new UnreportedBytes({
    quotas,
    tasksOn: (machineId) => state.machines.get(machineId)?.replicas.size ?? 0,
  });
  const arrivals = await Arrivals.open(join(folder, 'arrivals'), {
    now: systemClock.now(),
    ageMax: arrivalAgeMax,
    unreported,
  });
  const blobs = await Blobs.open({
    folder: join(folder, 'contents'),
    ownerId: setup.ownerId,
    sizeMax: setup.blobBytesMax,
    quotas,
  });
  const broker = new Broker(setup, {
    journal,
    state,
    arrivals,
    blobs,
    snapshotAt: restored.snapshotAt,
    instance: restored.instance,
  });
  broker.resume();
  const server: RunningServer = await serve({
    address: setup.listen,
    tokens: setup.tokens,
    identity: identityFolder(setup.home),
    log,
    services: [brokerService(broker.parts, (userId) => [...server.usesOf(userId), unreported.mostUsed()])],
    quotas,
    metrics: setup.metrics,
    messageBytesMax: jobBytesMax,
    ...(setup.audit === undefined ? {} : { audit: setup.audit }),
  });
  return {
    address: server.address,
    state,
    trouble: () => broker.parts.room.trouble(),
    stop: () => broker.stop(server),
  };
}

interface Stores {
  readonly journal: Journal<BrokerChange>;
  readonly state: BrokerState;
  readonly arrivals: Arrivals;
  readonly blobs: Blobs;
  readonly snapshotAt: number;
  readonly instance: JournalInstance;
}

/** Where results are checked aside. */
function getChecksFolder(home: string): string {
  return join(home, 'broker', 'checks');
}

function getWorkFolderRules(home: string, prover: HomeProver): WorkFolderRules {
  return { home, hasKey: prover.challenge !== '', forbidden: listForbiddenFolders(home) };
}

/** The parts of a broker process, joined. */
class Broker {
  readonly parts: BrokerParts;
  readonly #setup: BrokerSetup;
  readonly #stores: Stores;
  readonly #metrics: BrokerMetrics;
  readonly #watchers = new JobWatchers();
  readonly #snapshots: Snapshots;
  readonly #eraser: JobEraser;
  readonly #publisher: EventPublisher | undefined;
  readonly #links: ProviderLinks;
  readonly #performers: Performers;
  readonly #driver: BrokerDriver;
  readonly #room: Room;
  readonly #gatherer: Gatherer;
  readonly #ownReservations: OwnReservations | undefined;
  readonly #tookOverAt: Instant = systemClock.now();
  readonly #sharing: HomeSharing;
  readonly #named = new NamedContents();
  readonly #liveOutputs = new LiveOutputs({
    timers: systemTimers,
    send: (providerId, machineId, request) => {
      this.#performers.toProvider.requestOutput(providerId, machineId, request);
    },
  });
  readonly #intermediates: Intermediates;
  readonly #checks: Checks;
  readonly #forbidden: readonly string[];
  #sweepTimer: unknown;

  constructor(setup: BrokerSetup, stores: Stores) {
    const { journal, state, blobs } = stores;
    this.#setup = setup;
    this.#stores = stores;
    this.#forbidden = listForbiddenFolders(setup.home);
    this.#metrics = new BrokerMetrics(setup.metrics);
    this.#checks = new Checks({ most: setup.checksMax, now: () => steadyClock.now() });
    this.#snapshots = new Snapshots({ journal, clock: steadyClock, lastSequence: stores.snapshotAt });
    this.#publisher = createPublisher(
      {
        connectEvents: setup.connectEvents,
        source: `/mutirao/brokers/${setup.brokerId}`,
        series: 'mutirao_broker_events',
        log: setup.log,
        metrics: setup.metrics,
        encode: (source, { sequence, at, change }) =>
          encodeEvents(source, { sequence, at, events: listEvents(change) }),
      },
      journal,
    );
    this.#eraser = this.#createEraser();
    this.#driver = this.#createDriver();
    this.#ownReservations = openOwnReservations(setup);
    this.#sharing = new HomeSharing({ home: setup.home, brokerId: setup.brokerId, dropFolder: stores.arrivals.folder });
    this.#room = new Room({
      folder: join(setup.home, 'broker'),
      freeMin,
      pause: fullPause,
      timers: systemTimers,
      journalTrouble: () => this.#driver.stalledBy?.message,
    });
    const homeFiles = new HomeFiles(new FileHashes({ hashFile }), { forbidden: this.#forbidden });
    const records = new JournalRecords(journal);
    this.#intermediates = new Intermediates({
      folder: join(setup.home, 'broker', 'intermediate'),
      keepFor: setup.keepIntermediates,
      getBlobPath: (userId, sha256) => blobs.getPath(userId, sha256),
    });
    const taskOutputs = new TaskOutputs({ records, homeFiles, hasBlob: (userId, sha256) => blobs.has(userId, sha256) });
    const stager = new Stager(homeFiles, taskOutputs, setup.home);
    this.#links = this.#createLinks(homeFiles, stager);
    this.#gatherer = new Gatherer({
      brokerId: setup.brokerId,
      instance: stores.instance,
      volumeBytesMax,
      isOpen: (replicaId) => state.successes.has(replicaId),
    });
    this.#performers = this.#createPerformers(stager, records);
    const queues = new ProviderQueues((providerId) => this.#links.findQueue(providerId), steadyClock);
    this.parts = {
      driver: this.#driver,
      room: this.#room,
      journal,
      records,
      homeFiles,
      taskOutputs,
      liveOutputs: this.#liveOutputs,
      checks: this.#checks,
      specs: new JobSpecs(journal),
      blobs,
      watchers: this.#watchers,
      clock: systemClock,
      timers: systemTimers,
      journalInstance: stores.instance.name,
      ownerId: setup.ownerId,
      forbiddenFolders: this.#forbidden,
      workFolderRules: getWorkFolderRules(setup.home, this.#sharing.prover),
      otherJobsPlaces: new OtherJobsPlaces(state),
      machineProcessorsOf: (providerId) => this.#links.machineProcessorsOf(providerId),
      getTrouble: (providerId) => this.#links.getTrouble(providerId),
      findQueue: (providerId) => queues.get(providerId),
    };
    this.#metrics.watch(state, {
      clock: systemClock,
      inboxLength: () => this.#driver.waitingCount,
      watcherCount: () => this.#watchers.count,
    });
  }

  /** Goes on with what was promised, and adds the providers that the process was started with. */
  resume(): void {
    const { state } = this.#stores;
    this.#publisher?.start();
    this.#eraser.start();
    this.#takeUpGathered();
    this.#sweepIntermediates();
    for (const job of state.jobs.values()) if (job.endedAt > 0) this.#ownReservations?.giveBack(job);
    for (const command of resume(state, this.#tookOverAt)) this.#performResumed(command);
    for (const input of configureProviders(state, this.#setup)) this.#driver.deliver(input);
  }

  /** Now, and every hour. */
  #sweepIntermediates(): void {
    systemTimers.cancel(this.#sweepTimer);
    this.#sweepTimer = systemTimers.start(sweepPause, () => {
      this.#sweepIntermediates();
    });
    try {
      const count = this.#intermediates.sweep(this.#stores.state, systemClock.now());
      if (count > 0) this.#setup.log.info({ blobs: count }, 'removed intermediate files of finished workflows');
    } catch (error) {
      this.#setup.log.warn({ err: error }, 'cannot remove intermediate files of finished workflows');
    }
  }

  /** What a killed broker had begun to write is cut off now, and not only when the next result comes. */
  #takeUpGathered(): void {
    for (const { jobId, spec } of this.#stores.state.openJobs.values()) {
      if (spec?.gatherFolder === undefined) continue;
      this.#gatherer.takeUp({ jobId, folder: spec.gatherFolder }).catch((error: unknown) => {
        this.#setup.log.warn({ err: error, job: jobId }, 'cannot read the archived outputs');
      });
    }
  }

  async stop(server: RunningServer): Promise<void> {
    await server.drain(drainGrace);
    systemTimers.cancel(this.#sweepTimer);
    this.#eraser.stop();
    await this.#driver.stop();
    // Results that are being checked are checked again by the next broker.
    this.#checks.close();
    removeTree(getChecksFolder(this.#setup.home));
    this.#links.stop();
    await this.#ownReservations?.stop();
    await this.#publisher?.stop(publishGrace);
    try {
      this.#snapshots.take(this.#stores.state);
    } catch (error) {
      if (!isFullDisk(error)) throw error; // The next start replays what is in the journal.
    }
    this.#stores.journal.close();
  }

  #createEraser(): JobEraser {
    const { journal, state } = this.#stores;
    return new JobEraser({
      journal,
      state,
      timers: systemTimers,
      clock: steadyClock,
      takeSnapshot: () => {
        if (this.#driver.stalledBy !== undefined) throw this.#driver.stalledBy;
        this.#snapshots.take(state);
        return journal.lastSequence();
      },
      onTrouble: (error) => {
        this.#setup.log.warn({ err: error }, 'cannot erase forgotten jobs from the journal');
      },
    });
  }

  #createDriver(): BrokerDriver {
    const { journal, state } = this.#stores;
    const timed = timeJournal(journal, (seconds) => {
      this.#metrics.committed(seconds);
    });
    return new MachineDriver<BrokerState, BrokerInput, BrokerChange, BrokerCommand>({
      machine: brokerMachine,
      state,
      journal: timed,
      clock: systemClock,
      checkEvery,
      perform: (command) => {
        performCommand(this.#performers, command);
      },
      onCommitted: (entries) => {
        this.#onCommitted(entries);
      },
      onFatal: this.#setup.onFatal,
      onStalled: (error) => {
        reportStalled(this.#setup.log, error);
      },
      trace: openTrace({
        path: this.#setup.trace ?? '',
        machine: 'broker',
        at: this.#tookOverAt,
        log: this.#setup.log,
        describe: () => saveBrokerInitialState(state),
      }),
    });
  }

  #onCommitted(entries: readonly CommittedChange<BrokerChange>[]): void {
    const jobIds = new Set<number>();
    for (const { change } of entries) {
      this.#metrics.count(change);
      jobIds.add('jobId' in change ? change.jobId : 0);
      this.#follow(change);
    }
    for (const jobId of jobIds) this.#watchers.notify(jobId);
    this.#publisher?.notify();
    this.#snapshots.takeWhenDue(this.#stores.state);
  }

  /** What a change has others do. */
  #follow(change: BrokerChange): void {
    if (change.kind === 'ReplicasEnded') this.#discardOutputs(change);
    if (change.kind === 'JobCancelled') this.#checks.cancel(change.jobId);
    if (change.kind === 'JobEnded') this.#returnReservation(change.jobId);
    if (change.kind === 'JobsForgotten') this.#eraser.start();
    if (change.kind === 'JobEnded' && this.#setup.keepIntermediates === 0) this.#sweepIntermediates();
  }

  #returnReservation(jobId: JobId): void {
    const job = this.#stores.state.jobs.get(jobId);
    if (job !== undefined) this.#ownReservations?.giveBack(job);
  }

  /**
   * What a replica brought that was not accepted is wanted by nobody, but that with which a task has failed for good.
   */
  #discardOutputs({ machineId, jobId, endings }: Extract<BrokerChange, { kind: 'ReplicasEnded' }>): void {
    for (const ending of endings) {
      const { disposition, taskStatus, outcome, outputs, replicaId } = ending;
      if (disposition === 'accepted' || (outputs.length === 0 && !this.#stores.arrivals.hasFound(replicaId))) continue;
      const isLast = disposition === 'failed' && taskStatus === 'failed' && outcome !== 'succeeded';
      const kept = isLast && outputs.length > 0 ? this.#keepFailed(jobId, machineId, ending) : Promise.resolve();
      kept
        .catch((error: unknown) => {
          this.#setup.log.warn(
            { err: error, job: jobId, task: ending.taskIndex },
            'cannot keep the outputs of a failed task',
          );
        })
        .then(() => this.#stores.arrivals.discard({ machineId, replicaId }, outputs))
        .catch((error: unknown) => {
          this.#setup.log.warn({ err: error }, 'cannot remove outputs that are not needed');
        });
    }
  }

  async #keepFailed(
    jobId: JobId,
    machineId: MachineId,
    { taskIndex, replicaId, outputs }: ReplicaEnding,
  ): Promise<void> {
    const { state } = this.#stores;
    const job = state.jobs.get(jobId);
    if (job === undefined) return;
    const spec = this.parts.specs.getSpec(job);
    const attributes = state.machines.get(machineId)?.facts.attributes ?? {};
    const outputSpecs = outputsOn(groupOfTask(spec, taskIndex), attributes);
    await this.#performers.acceptor.keepFailed({
      jobId,
      machineId,
      attributes,
      replicaId,
      taskIndex,
      userId: job.userId,
      value: valueOfTask(spec, taskIndex),
      homeDirectory: spec.homeDirectory,
      outputs,
      outputSpecs,
      check: '',
    });
  }

  #createLinks(homeFiles: HomeFiles, stager: Stager): ProviderLinks {
    const { home, brokerId, programVersion, token, log } = this.#setup;
    const { arrivals, blobs, state, instance } = this.#stores;
    return new ProviderLinks({
      brokerId,
      instance: instance.name,
      programVersion,
      tokenOf: (providerId) => tokenOfProvider(home, providerId, token),
      trust: userTrust(home),
      arrivals,
      room: this.#room,
      timers: systemTimers,
      log,
      counts: this.#metrics,
      deliver: (input) => {
        this.#deliver(input);
      },
      waitingCount: () => this.#driver.waitingCount,
      findSource: async (content) => {
        const blob = blobs.findPath(content.sha256);
        const path = blob ?? (await homeFiles.findSource(content))?.path;
        return path === undefined ? undefined : { path, isLinkable: blob !== undefined };
      },
      describeMachine: (facts) => stateSharedHome(facts, this.#sharing.prover),
      prover: this.#sharing.prover,
      named: this.#named,
      known: knownReplicas(() => this.#driver),
      restage: async (machineId: MachineId) => {
        for (const order of ordersOfMachine(state, machineId)) await this.#stage(stager, order);
      },
      takeOutput: this.#liveOutputs.take,
      nextTransferId: () => randomBytes(16).toString('hex'),
    });
  }

  /** What is staged for somebody is named to it. */
  #stage(stager: Stager, order: StageOrder): StagedBatch | Promise<StagedBatch> {
    const staged = stager.stage(order);
    if (!(staged instanceof Promise)) return staged;
    return staged.then((batch) => {
      this.#named.note(order.providerId ?? order.machineId, batch.batch);
      return batch;
    });
  }

  #createPerformers(stager: Stager, records: Records): Performers {
    const { arrivals, blobs, state } = this.#stores;
    const { checkDeadline, onFatal } = this.#setup;
    const secrets = new GangSecrets();
    const toProvider = new ToProvider(
      {
        findLink: (providerId) => this.#links.find(providerId),
        orderOf: (command) => getOrder(state, command, { shared: this.#sharing, secrets }),
        stage: (order) => this.#stage(stager, order),
        deliver: (input) => {
          this.#deliver(input);
        },
        answerOutput: this.#liveOutputs.take,
        onSent: (count) => {
          this.#metrics.sent(count);
        },
      },
      new SerialExecutor(onFatal),
    );
    const leaseStager = new LeaseStager({
      findLink: (providerId) => this.#links.find(providerId),
      getParts: (command) => getParts(state, command, this.#sharing),
      stage: (order) => this.#stage(stager, order),
      onGranted: (providerId, replicaCount) => {
        this.#metrics.leased();
        this.#setup.log.debug({ provider: providerId, replicas: replicaCount }, 'tasks leased');
      },
      onBug: onFatal,
    });
    const checksFolder = getChecksFolder(this.#setup.home);
    const stores: ResultStores = {
      arrivals,
      hashFile,
      forbidden: this.#forbidden,
      getBlobPath: (userId, sha256) => blobs.getPath(userId, sha256),
      onNewBlob: (order, { path }, sha256) => {
        if (state.jobs.get(order.jobId)?.dependencies?.read.get(order.taskIndex)?.has(path) === true)
          this.#intermediates.note(order, sha256);
      },
    };
    const acceptor = new ResultAcceptor(
      stores,
      { gatherer: this.#gatherer, checksFolder },
      { placingsMax, checks: this.#checks, checkDeadline },
    );
    const digester = new ResultDigester(
      {
        arrivals,
        folder: checksFolder,
        standardOutputOf: (jobId, taskIndex, replicaId) =>
          records.getOutput(jobId, taskIndex, replicaId)?.standardOutput ?? new Uint8Array(0),
      },
      { checks: this.#checks, checkDeadline },
    );
    return {
      state,
      links: this.#links,
      toProvider,
      leaseStager,
      acceptor,
      digester,
      room: this.#room,
      deliver: (input) => {
        this.#deliver(input);
      },
      onBug: onFatal,
    };
  }

  #deliver(input: BrokerInput): void {
    this.#metrics.receive(input, this.#stores.state);
    this.#driver.deliver(input);
  }

  /** The driver performs what its own steps decide; these come before its first step. */
  #performResumed(command: BrokerCommand): void {
    if (command.kind === 'Reply') return;
    if (command.kind !== 'WakeAt') {
      performCommand(this.#performers, command as Exclude<BrokerCommand, DriverCommand>);
      return;
    }
    const delay = Math.max(0, command.at - systemClock.now());
    systemTimers.start(delay, () => {
      this.#driver.deliver({ kind: 'TimerFired' });
    });
  }
}
