import {
  withMemory,
  getRequest,
  brokerMachine,
  createBrokerState,
  isDurable,
  resume,
  restore,
  skipForgottenIds,
  snapshot,
  type BrokerChange,
  type BrokerCommand,
  type BrokerInput,
  type BrokerJob,
  type BrokerOptions,
  type BrokerState,
} from '@mutirao/core/machines/broker';
import type { Content, OutputContent, ReplicaStart, StartReplicas, TaskGroup } from '@mutirao/core/messages';
import {
  type Bytes,
  unreachable,
  type DriverCommand,
  type JobId,
  type MachineId,
  type Prng,
  type ProcessorCount,
  type ProviderId,
  type ReplicaId,
  type TaskIndex,
} from '@mutirao/core/shared';
import type { SimulatedDisk } from './disk.ts';
import { Life, type Host } from './host.ts';
import { Link } from './link.ts';
import { MachineProcess } from './machine-process.ts';
import type { FromBroker, ToBroker } from './messages.ts';
import type { StreamEnd } from './network.ts';
import { drawTime } from './pace.ts';
import type { Surroundings } from './surroundings.ts';

/** What a broker's process is started with. */
export interface BrokerSetup {
  readonly world: Surroundings;
  readonly host: Host;
  readonly options: Partial<BrokerOptions>;
  readonly disk: SimulatedDisk<BrokerChange>;
  readonly rng: Prng;
  readonly providerIds: readonly ProviderId[];
  /** It needs the state of the providers' queues. */
  readonly places: boolean;
  /** Names the journal that it speaks for. */
  readonly instance: string;
  dial(life: Life, providerId: ProviderId): StreamEnd<FromBroker, ToBroker>;
  onCommitted(changes: readonly BrokerChange[]): void;
}

type GetCommand<Kind extends BrokerCommand['kind']> = Extract<BrokerCommand, { readonly kind: Kind }>;

const changesPerSnapshot = 200;
/** Channels are not simulated. */
const noSecret = new Uint8Array(32);
/** Results of liars begin with it. */
const badContent = 'bad';

/** One run of a broker: the machine, and its links to the providers. */
export class BrokerProcess {
  readonly life: Life;
  readonly process: MachineProcess<BrokerState, BrokerInput, BrokerChange, BrokerCommand>;
  readonly #setup: BrokerSetup;
  readonly #links = new Map<ProviderId, Link<FromBroker, ToBroker>>();
  readonly #staging: Prng;
  #changesSinceSnapshot = 0;

  constructor(setup: BrokerSetup) {
    this.#setup = setup;
    this.#staging = setup.rng.fork('staging');
    const { world, host, disk, rng, options } = setup;
    this.life = new Life(host);
    const clock = host.openClock();
    this.process = new MachineProcess<BrokerState, BrokerInput, BrokerChange, BrokerCommand>({
      name: 'broker',
      kernel: world.kernel,
      life: this.life,
      clock,
      machine: brokerMachine,
      disk,
      state: recover(disk, options),
      isDurable,
      rng: rng.fork('turns'),
      turnDelayMax: world.turnDelayMax,
      onTurn: (turn) => {
        world.onTurn(turn);
      },
      perform: (command) => {
        this.#perform(command);
      },
      onCommitted: (changes) => {
        this.#onCommitted(changes);
      },
      onFatal: (error) => {
        world.endOrFail(this.life, error);
      },
      onFall: () => {
        this.life.end();
      },
    });
    // As the live broker, it does not begin without what it has to write first.
    if (disk.hasFallen) {
      this.life.end();
      return;
    }
    this.process.performFirst(resume(this.process.state, clock.now()));
    for (const providerId of setup.providerIds) {
      if (!this.process.state.providers.has(providerId))
        this.process.deliver({ kind: 'ProviderAdded', replyTo: 0, providerId, address: providerId });
    }
  }

  /** What a broker that starts now would know. */
  recover(): BrokerState {
    const { disk, options } = this.#setup;
    return recover(disk, options);
  }

  #onCommitted(changes: readonly BrokerChange[]): void {
    const { disk, onCommitted } = this.#setup;
    onCommitted(changes);
    this.#changesSinceSnapshot += changes.length;
    if (this.#changesSinceSnapshot < changesPerSnapshot || disk.isFull) return;
    this.#changesSinceSnapshot = 0;
    disk.writeSnapshot(snapshot(this.process.state));
  }

  #perform(command: Exclude<BrokerCommand, DriverCommand>): void {
    switch (command.kind) {
      case 'DisconnectProvider':
        break;
      case 'ConnectProvider':
        this.#connect(command.providerId);
        break;
      case 'SetDemand':
        this.#setDemand(command);
        break;
      case 'StartReplicas':
        this.#start(command);
        break;
      case 'StartGang':
        this.#report(command.providerId, {
          kind: 'toMachine',
          machineId: command.machineId,
          message: { kind: 'startGang', start: command.start },
        });
        break;
      case 'GrantLease':
        this.#grant(command);
        break;
      case 'RevokeLease':
        this.#report(command.providerId, { kind: 'leaseRevocation', replicaIds: command.replicaIds });
        break;
      case 'CancelReplicas': {
        const { machineId, replicaIds, onlyWaiting } = command;
        this.#report(command.providerId, {
          kind: 'toMachine',
          machineId,
          message: { kind: 'cancel', replicaIds, onlyWaiting },
        });
        break;
      }
      case 'AcknowledgeReport':
        this.#report(command.providerId, {
          kind: 'toMachine',
          machineId: command.machineId,
          message: { kind: 'acknowledged', sequence: command.sequence },
        });
        break;
      case 'DigestResult':
        this.#digest(command);
        break;
      case 'AcceptResult':
        this.#settle(command);
        break;
      default:
        unreachable(command);
    }
  }

  #report(providerId: ProviderId, message: FromBroker): void {
    this.#links.get(providerId)?.send(message);
  }

  #setDemand({ providerId, demand }: Extract<BrokerCommand, { kind: 'SetDemand' }>): void {
    const reported = this.#setup.world.reportsUnplaced ? demand : { ...demand, unplacedTasks: undefined };
    this.#links.get(providerId)?.send({ kind: 'demand', demand: reported });
  }

  #connect(providerId: ProviderId): void {
    if (this.#links.has(providerId)) return;
    const { world, rng, dial, instance, places } = this.#setup;
    const link = new Link<FromBroker, ToBroker>({
      kernel: world.kernel,
      life: this.life,
      rng: rng.fork(`link ${providerId}`),
      backOff: { first: 100, longest: 5000 },
      dial: () => dial(this.life, providerId),
      hello: () => ({ kind: 'hello', brokerId: 'broker', instance, ...(places ? { takesResource: true } : {}) }),
      onConnected: (greeting) => {
        this.process.deliver({
          kind: 'ProviderConnected',
          providerId,
          takesLeases: true,
          ...(places ? { reportsResource: true } : {}),
          ...(greeting.kind === 'hello' ? { clock: greeting.clock, resourceId: greeting.resourceId } : {}),
        });
      },
      onMessage: (message) => {
        this.#receive(providerId, message);
      },
      onLost: () => {
        this.process.deliver({ kind: 'ProviderDisconnected', providerId, reason: 'MUT_UNREACHABLE' });
      },
      isFinal: () => false,
      onGone: () => undefined,
    });
    this.#links.set(providerId, link);
    link.open();
  }

  #receive(providerId: ProviderId, message: ToBroker): void {
    switch (message.kind) {
      case 'hello':
        break;
      case 'joined':
        this.process.deliver({
          kind: 'MachineJoined',
          providerId,
          facts: message.facts,
          heldReplicaIds: message.heldReplicaIds,
          ...(message.isGone === true ? { isGone: true } : {}),
        });
        break;
      case 'lost':
        this.process.deliver({ kind: 'MachineLost', machineId: message.machineId, reason: message.reason });
        break;
      case 'statuses':
        this.process.deliver({ kind: 'StatusesReported', providerId, statuses: message.statuses });
        break;
      case 'draining':
        this.process.deliver({ kind: 'DrainingReported', providerId, draining: message.draining });
        break;
      case 'resource':
        this.process.deliver({ kind: 'ResourceReported', providerId, resourceStatus: message.resourceStatus });
        break;
      case 'requests':
        this.process.deliver({ kind: 'RequestsChanged', providerId, requests: message.requests });
        break;
      case 'leaseConfirmed':
        this.process.deliver({ kind: 'LeaseConfirmed', providerId, sequence: message.sequence });
        break;
      case 'settled':
        this.process.deliver({ kind: 'ProviderSynced', providerId });
        break;
      case 'fromMachine':
        if (message.message.kind === 'report')
          this.process.deliver({
            kind: 'MachineReported',
            machineId: message.machineId,
            report: message.message.report,
          });
        else if (message.message.kind === 'blobRequest')
          this.#offer(providerId, message.machineId, message.message.contents);
        break;
      default:
        unreachable(message);
    }
  }

  /** Files are read from home, which takes a moment. */
  #offer(providerId: ProviderId, machineId: MachineId, contents: readonly Content[]): void {
    this.#later(() => {
      for (const content of contents)
        this.#report(providerId, {
          kind: 'toMachine',
          machineId,
          message: { kind: 'content', content, isThere: true },
        });
    });
  }

  #start({
    providerId,
    machineId,
    jobId,
    groupIndex,
    starts,
    gang,
    processors,
    alternative,
    memory,
  }: GetCommand<'StartReplicas'>): void {
    const staged = this.#stage(jobId, groupIndex, starts, { chosen: processors, alternative, memory });
    const batch = staged && gang !== undefined ? asMember(staged, gang) : staged;
    if (batch === undefined || !this.process.state.machines.has(machineId)) return;
    this.#report(providerId, { kind: 'toMachine', machineId, message: { kind: 'start', batch } });
    const spec = this.process.state.jobs.get(jobId)?.spec;
    const group = spec?.groups[groupIndex];
    if (spec?.scheduler === 'storage-affinity' && group !== undefined) this.#noteStaged(machineId, group, batch);
  }

  #noteStaged(machineId: MachineId, group: TaskGroup, { replicas: [first] }: StartReplicas): void {
    const contents = first?.inputs.map(({ content }) => content) ?? [];
    if (contents.length > 0)
      this.process.deliver({ kind: 'InputsStaged', machineId, sources: listSources(group), contents });
  }

  #grant({ providerId, sequence, horizon, parts, quarantined }: GetCommand<'GrantLease'>): void {
    const groups = parts.flatMap(({ jobId, groupIndex, requirements, taskTime, starts }) => {
      const start = this.#stage(jobId, groupIndex, this.#stageable(starts));
      return start === undefined ? [] : [{ start, requirements, taskTime }];
    });
    this.#report(providerId, {
      kind: 'lease',
      lease: { sequence, horizon, groups, ...(quarantined === undefined ? {} : { quarantined }) },
    });
  }

  /** Inputs of leased tasks that are gone for a while: of two tellings of a lease one may lack what the other has. */
  #stageable(
    starts: GetCommand<'GrantLease'>['parts'][number]['starts'],
  ): GetCommand<'GrantLease'>['parts'][number]['starts'] {
    const missingCount = this.#staging.below(4) === 0 ? this.#staging.below(1 + Math.min(8, starts.length)) : 0;
    return starts.slice(missingCount);
  }

  #stage(
    jobId: JobId,
    groupIndex: number,
    starts: GetCommand<'StartReplicas'>['starts'],
    {
      chosen,
      alternative,
      memory,
    }: {
      readonly chosen?: ProcessorCount | undefined;
      readonly alternative?: number | undefined;
      readonly memory?: Bytes | undefined;
    } = {},
  ): StartReplicas | undefined {
    const job = this.process.state.jobs.get(jobId);
    const spec = job?.spec;
    const group = spec?.groups[groupIndex];
    if (spec === undefined || group === undefined) return undefined;
    const { command, noOp } = group;
    const { environment, limits } = spec;
    const request = getRequest(spec, group, alternative);
    const processors = chosen ?? request.processors;
    const resources = withMemory(request.resources, memory);
    const template = {
      jobId,
      userId: 'user',
      command,
      noOp,
      environment,
      limits,
      processors,
      ...(resources === undefined ? {} : { resources }),
    };
    const inputs: ReplicaStart['inputs'] = group.inputs.map(({ root, path, source }) => ({
      root,
      path,
      content: source.kind === 'output' ? this.#contentWritten(spec.label, source.taskIndex) : getContent(path),
      mode: 0o644,
    }));
    const listOutputs = (taskIndex: TaskIndex): ReplicaStart['outputs'] =>
      group.outputs.map(({ root, path }) => ({
        root,
        path,
        ...(isRead(job, taskIndex, path) ? { keep: true as const } : {}),
      }));
    return {
      template,
      replicas: starts.map(({ replicaId, taskIndex }) => ({
        replicaId,
        taskIndex,
        value: '',
        inputs,
        outputs: listOutputs(taskIndex),
      })),
    };
  }

  #contentWritten(label: string, taskIndex: TaskIndex): Content {
    return { sha256: this.#setup.world.truth.contentTaken(label, taskIndex), size: 1 };
  }

  /** The content of the outputs, or what the task wrote, as recorded. */
  #digest({ replicaId, jobId, outputs, check }: GetCommand<'DigestResult'>): void {
    const spec = this.process.state.jobs.get(jobId)?.spec;
    if (spec === undefined) return;
    const digest = outputs[0]?.content.sha256 ?? this.#setup.world.truth.writtenBy({ label: spec.label, replicaId });
    this.#later(() => {
      this.process.deliver(
        isRefused(check, outputs) ? getRefusal(replicaId) : { kind: 'ResultDigested', replicaId, digest },
      );
    });
  }

  #settle({ replicaId, jobId, outputs, check }: GetCommand<'AcceptResult'>): void {
    if (this.process.state.jobs.get(jobId)?.spec === undefined) return;
    this.#later(() => {
      this.process.deliver(isRefused(check, outputs) ? getRefusal(replicaId) : { kind: 'ResultAccepted', replicaId });
    });
  }

  /** What is large takes much longer, now and then. */
  #later(chore: () => void): void {
    const { world, rng } = this.#setup;
    const { settleMax } = world.pace;
    world.kernel.after(drawTime(rng, rng.below(6) === 0 ? 1000 * settleMax : settleMax), () => {
      if (!this.life.isOver) chore();
    });
  }
}

function isRead(job: BrokerJob | undefined, taskIndex: TaskIndex, path: string): boolean {
  return job?.dependencies?.read.get(taskIndex)?.has(path) === true;
}

function isRefused(check: string, outputs: readonly OutputContent[]): boolean {
  return check !== '' && outputs.some(({ content }) => content.sha256.startsWith(badContent));
}

function getRefusal(replicaId: ReplicaId): BrokerInput {
  return { kind: 'ResultRefused', replicaId, reason: 'MUT_CHECK_FAILED', detail: 'the check ended with status 1' };
}

/** Inputs go to all members of a gang, and outputs come from the first. */
function asMember(
  { template, replicas }: StartReplicas,
  { processors, ...place }: NonNullable<GetCommand<'StartReplicas'>['gang']>,
): StartReplicas {
  const gang = { ...place, secret: noSecret };
  return {
    template: { ...template, processors },
    replicas: replicas.map((replica) => ({ ...replica, gang, outputs: place.rank === 0 ? replica.outputs : [] })),
  };
}

/** As the live broker finds them at home. */
function listSources({ inputs }: TaskGroup): { readonly path: string; readonly contents: readonly Content[] }[] {
  return inputs.flatMap(({ source, path }) =>
    source.kind === 'path' ? [{ path: source.path, contents: [getContent(path)] }] : [],
  );
}

function getContent(path: string): Content {
  return { sha256: path.padEnd(64, '0'), size: 1000 };
}

/** As the live broker does: the latest snapshot and what came after it. */
function recover(disk: SimulatedDisk<BrokerChange>, options: Partial<BrokerOptions>): BrokerState {
  const latest = disk.latestSnapshot();
  const state = latest === undefined ? createBrokerState(options) : restore(latest, options);
  disk.replay((change) => {
    brokerMachine.apply(state, change);
  });
  if (disk.hasFallen) {
    skipForgottenIds(state);
    if (!disk.isFull) {
      disk.writeSnapshot(snapshot(state));
      disk.forgetFall();
    }
  }
  return state;
}
