import { defaultBrokerOptions, type BrokerChange, type BrokerOptions } from '@mutirao/core/machines/broker';
import type { ClusterChange } from '@mutirao/core/machines/cluster';
import { providerDefaults, type ProviderChange, type ProviderConfig } from '@mutirao/core/machines/provider';
import type { MachineFacts } from '@mutirao/core/messages';
import { conservativeBackfilling, type NodeGrant } from '@mutirao/core/queue';
import { Prng, type Duration, type Instant, type ProviderId } from '@mutirao/core/shared';
import { AgentProcess } from './agent-process.ts';
import { BrokerProcess } from './broker-process.ts';
import { ClusterProcess, type RequestProcess } from './cluster-process.ts';
import { DiskFullError, SimulatedDisk } from './disk.ts';
import { HeuristicPromises } from './heuristic-promises.ts';
import { Host, type Life } from './host.ts';
import { Kernel } from './kernel.ts';
import { readRunTime, submitLocally } from './local-users.ts';
import type { WorldTurn } from './machine-process.ts';
import type { ManagerReply, QueueHint } from './messages.ts';
import { LeaseOracle } from './lease-oracle.ts';
import { Network, type StreamEnd } from './network.ts';
import { Node, type NodeDisk, type NodeProcess } from './node.ts';
import { usualPace, type Pace } from './pace.ts';
import { findCapacity, findNodes } from './plan-resources.ts';
import { Promises } from './promises.ts';
import { noReservations, FakeReservationManager } from './fake-reservation-manager.ts';
import { ProviderProcess, type ProviderSetup } from './provider-process.ts';
import { honestManager, type ClusterPlan, type LabPlan, type Scenario } from './scenario.ts';
import type { Surroundings } from './surroundings.ts';
import { Truth } from './truth.ts';
import { SimulatedSpool } from './spool.ts';
import { SimulatedUser } from './user.ts';
import type { WorldEvent, WorldEventKind } from './world-event.ts';

/** When every world begins. */
export const worldStart: Instant = 1_700_000_000_000;

const callDeadline: Duration = 10_000;

/** A cluster of a world, with its provider. */
export interface ClusterSite {
  readonly plan: ClusterPlan;
  readonly cluster: Node<ClusterProcess>;
  readonly provider: Node<ProviderProcess>;
  /** Agents of its allocations that live, and those of its local users' processes. */
  readonly agents: Set<AgentProcess>;
}

/** A lab of a world, with its provider. */
export interface LabSite {
  readonly plan: LabPlan;
  readonly provider: Node<ProviderProcess>;
  readonly agents: readonly Node<AgentProcess>[];
}

/** What a world's processes are set to; all that is left out is as usual. */
export interface WorldOptions {
  readonly pace?: Pace;
  readonly broker?: Partial<BrokerOptions>;
  readonly provider?: Partial<ProviderConfig>;
  /** Whether brokers report how many tasks have no place; left out, they do. Studies do not know it. */
  readonly reportsUnplaced?: boolean;
  /** Called when the changes of the last turn of a process are in its journal. */
  onCommitted?(process: string): void;
  /** Called with events of processes; an event costs a little. */
  onEvent?(event: WorldEvent): void;
}

/** All machines of a scenario, joined and started. What goes wrong among them is for others to say. */
export class World implements Surroundings {
  readonly scenario: Scenario;
  readonly kernel = new Kernel(worldStart);
  readonly rng: Prng;
  readonly network: Network;
  readonly truth: Truth;
  readonly promises: Promises;
  readonly heuristics = new HeuristicPromises();
  readonly leases: LeaseOracle;
  readonly reservations: FakeReservationManager;
  readonly turnDelayMax: Duration;
  readonly pace: Pace;
  readonly reportsUnplaced: boolean;
  readonly broker: Node<BrokerProcess>;
  readonly clusters: ClusterSite[] = [];
  readonly labs: LabSite[] = [];
  readonly user: SimulatedUser;
  readonly hosts: Host[] = [];
  readonly onTurn: (turn: WorldTurn) => void;
  readonly #brokerDisk = new SimulatedDisk<BrokerChange>();
  /** Counts the journals of the broker. */
  #journal = 1;
  /** Agents that allocations ever started. */
  #agentCount = 0;
  readonly #options: WorldOptions;
  /** Of all agents; in worlds without gangs they say nothing of them. */
  readonly #gangs: Pick<MachineFacts, 'takesGangs'>;
  /** Whether things go wrong. */
  isStormy = true;

  constructor(scenario: Scenario, onTurn: (turn: WorldTurn) => void, options: WorldOptions = {}) {
    this.scenario = scenario;
    this.#gangs = scenario.jobs.some(({ gangProcessors = 0 }) => gangProcessors > 0) ? { takesGangs: true } : {};
    this.leases = new LeaseOracle(scenario.faults.skewMax);
    this.reservations = new FakeReservationManager(this.kernel, scenario, (resourceId) => {
      this.#reportReservations(resourceId);
    });
    this.onTurn = (turn) => {
      onTurn(turn);
      this.heuristics.receive(turn);
      this.leases.receive(turn);
    };
    this.#options = options;
    this.pace = options.pace ?? usualPace;
    this.reportsUnplaced = options.reportsUnplaced ?? true;
    this.rng = new Prng(`world ${scenario.seed}`);
    this.turnDelayMax = scenario.turnDelayMax;
    this.network = new Network(this.kernel, this.rng.fork('network'), scenario.network);
    this.truth = new Truth(scenario);
    this.promises = new Promises(this.truth);
    const home = this.#addHost('home');
    scenario.clusters.forEach((plan, index) => {
      this.clusters.push(this.#addCluster(`cluster${index}`, plan));
    });
    scenario.labs.forEach((plan, index) => {
      this.labs.push(this.#addLab(`lab${index}`, plan));
    });
    this.broker = this.#addBroker(home);
    for (const node of this.nodes()) node.start();
    this.user = new SimulatedUser({
      kernel: this.kernel,
      promises: this.promises,
      plans: scenario.jobs,
      reservations: this.reservations,
      ask: (make, receive) => {
        this.#askBroker(make, receive);
      },
    });
  }

  onCommitted(process: string): void {
    this.#options.onCommitted?.(process);
  }

  get choreFailureProbability(): number {
    return this.isStormy ? (this.scenario.choreFailureProbability ?? 0) : 0;
  }

  get stuckTaskProbability(): number {
    return this.isStormy ? (this.scenario.stuckTaskProbability ?? 0) : 0;
  }

  /**
   * Notifies the processes that honour the reservations of a resource, or pre-acquire for them, that they have changed.
   */
  #reportReservations(resourceId: string): void {
    const site = this.clusters.find(({ provider }) => provider.name === resourceId);
    site?.cluster.current?.onReservations();
    site?.provider.current?.onReservations();
  }

  /** All processes that are started again when they end. */
  nodes(): Node[] {
    return [
      ...this.clusters.flatMap(({ cluster, provider }) => [cluster, provider]),
      ...this.labs.flatMap(({ provider, agents }) => [provider, ...agents]),
      this.broker,
    ];
  }

  /** Everything that lives, also what is not started again. */
  processes(): NodeProcess[] {
    return [
      ...this.nodes().flatMap(({ current }) => (current === undefined ? [] : [current])),
      ...this.clusters.flatMap(({ agents }) => [...agents]),
    ];
  }

  /** All agents that live. */
  agents(): AgentProcess[] {
    const ofLabs = this.labs.flatMap(({ agents }) =>
      agents.flatMap(({ current }) => (current === undefined ? [] : [current])),
    );
    return [...ofLabs, ...this.clusters.flatMap(({ agents }) => [...agents])];
  }

  /** Processes that live on a host. */
  processesOn(host: Host): NodeProcess[] {
    return this.processes().filter(({ life }) => life.host === host);
  }

  /** Reports an event of these processes to the listener. */
  report(kind: WorldEventKind, processes: readonly NodeProcess[], detail = ''): void {
    this.#options.onEvent?.({
      at: this.kernel.now,
      kind,
      processes: processes.map(({ process }) => process.name),
      detail,
    });
  }

  /** A process has started: reports that, and its end when it comes. */
  #reportLife<Process extends NodeProcess>(started: Process): Process {
    if (this.#options.onEvent === undefined) return started;
    this.report('ProcessStarted', [started]);
    started.life.holds(() => {
      this.report('ProcessEnded', [started]);
    });
    return started;
  }

  /** All faults are mended, and the user lets caught machines begin again. */
  resetAllTrust(): void {
    const process = this.broker.current?.process;
    for (const { identity, quarantinedAt } of process?.state.records.values() ?? []) {
      if (quarantinedAt !== 0) process?.deliver({ kind: 'MachineTrustReset', replyTo: 0, machineId: identity });
    }
  }

  /** The owner drains a provider, or undrains it; without effect on one that is away. */
  setDraining({ current }: Node<ProviderProcess>, how: 'gently' | 'at once' | 'not'): void {
    if (current === undefined) return;
    this.report(how === 'not' ? 'ProviderUndrained' : 'ProviderDrained', [current], how);
    current.process.deliver(
      how === 'not'
        ? { kind: 'UndrainAsked', replyTo: 0 }
        : { kind: 'DrainAsked', replyTo: 0, reason: 'repairs', ...(how === 'at once' ? { isAtOnce: true } : {}) },
    );
  }

  /**
   * The owner drains a machine, and undrains it some time later; without effect while the broker is away. @param choice
   * in [0, 1), which of them.
   */
  drainMachine(choice: number, duration: Duration): void {
    const { current } = this.broker;
    const machineIds = [...(current?.process.state.machines.keys() ?? [])];
    const machineId = machineIds[Math.floor(choice * machineIds.length)];
    if (current === undefined || machineId === undefined) return;
    this.report('MachineDrained', [current], machineId);
    current.process.deliver({ kind: 'MachineDrained', replyTo: 0, machineId, reason: 'repairs' });
    this.kernel.after(duration, () => {
      this.broker.current?.process.deliver({ kind: 'MachineUndrained', replyTo: 0, machineId });
    });
  }

  /** The user knows that all faults are mended, and undrains everything. */
  undrainAll(): void {
    for (const { identity } of this.broker.current?.process.state.drainedMachines.values() ?? [])
      this.broker.current?.process.deliver({ kind: 'MachineUndrained', replyTo: 0, machineId: identity });
    for (const { provider } of [...this.clusters, ...this.labs])
      if (provider.current?.process.state.draining !== undefined) this.setDraining(provider, 'not');
  }

  /** A host falls: its processes are gone at once, and what their disks had not synced. */
  fall(host: Host, rng: Prng): void {
    for (const { life } of this.processesOn(host)) life.end();
    for (const node of this.nodes()) if (node.host === host) node.disk?.loseUnsynced(rng);
  }

  /**
   * Home's disk loses the broker's journal: the next broker knows nothing, and nothing that ran for this one may count
   * for it.
   */
  loseJournal(awayFor: Duration): void {
    const { current } = this.broker;
    this.report('JournalLost', current === undefined ? [] : [current], `with the broker away for ${awayFor} ms`);
    this.broker.downUntil = this.kernel.now + awayFor;
    current?.life.end();
    this.#brokerDisk.wipe();
    this.#journal += 1;
    this.promises.forget();
    this.leases.forgetBroker();
    this.user.loseJournal();
  }

  /** Home sleeps for a while, until all is mended at most. */
  sleep(atMost: Duration): void {
    const { host } = this.broker;
    const until = Math.min(this.kernel.now + atMost, worldStart + this.scenario.stormDuration);
    const duration = until - this.kernel.now;
    this.report('HomeSlept', this.processesOn(host), `for ${duration} ms`);
    for (const { life } of this.processesOn(host)) life.pausedUntil = Math.max(life.pausedUntil, until);
    for (const other of this.hosts) if (other !== host) this.network.cut(host, other, duration);
  }

  /** An error that ended a process: a full disk ends it, anything else ends the world. */
  readonly endOrFail = (life: Life, error: unknown): void => {
    if (!(error instanceof DiskFullError)) throw error;
    life.end();
  };

  #addHost(name: string): Host {
    const host = new Host(name, this.kernel, 0);
    this.hosts.push(host);
    return host;
  }

  /** A clock is set again whenever a process of its host starts. */
  #node<Process extends NodeProcess>(
    name: string,
    host: Host,
    { disk, create }: { readonly disk: NodeDisk | undefined; create(startCount: number, rng: Prng): Process },
  ): Node<Process> {
    const rng = this.rng.fork(name);
    const skews = rng.fork('skews');
    return new Node<Process>({
      name,
      host,
      kernel: this.kernel,
      rng: rng.fork('supervisor'),
      disk,
      create: (startCount) => {
        const { skewMax } = this.scenario.faults;
        if (skewMax > 0 && this.isStormy) host.setSkew(skews.below(2 * skewMax + 1) - skewMax);
        return this.#reportLife(create(startCount, rng.fork(`start ${startCount}`)));
      },
    });
  }

  #addBroker(host: Host): Node<BrokerProcess> {
    const disk = this.#brokerDisk;
    const providers = new Map<ProviderId, Node<ProviderProcess>>(
      [...this.clusters, ...this.labs].map(({ provider }) => [provider.name, provider]),
    );
    return this.#node('broker', host, {
      disk,
      create: (_startCount, rng) => {
        this.promises.checkDisk(disk);
        return new BrokerProcess({
          world: this,
          host,
          options: { ...getLease(this.scenario), ...this.#options.broker },
          disk,
          rng,
          providerIds: [...providers.keys()],
          instance: `journal ${this.#journal}`,
          places:
            this.scenario.jobs.some(({ siteSelection }) => siteSelection !== undefined) ||
            this.scenario.clusters.some(({ nodes }) => nodes !== undefined),
          dial: (life, providerId) => {
            const provider = providers.get(providerId);
            return this.network.open(
              life,
              { host: provider?.host ?? host, findServer: () => provider?.current?.life },
              (end) => {
                provider?.current?.relay.acceptBroker(end);
              },
            );
          },
          onCommitted: (changes) => {
            this.promises.receive(changes);
            this.leases.onBroker(changes);
          },
        });
      },
    });
  }

  /** The user sits at home, so that questions get lost only with the broker. */
  #askBroker(make: Parameters<UserAsk>[0], receive: Parameters<UserAsk>[1]): void {
    let isAnswered = false;
    const once = (reply: Parameters<typeof receive>[0]): void => {
      if (!isAnswered) receive(reply);
      isAnswered = true;
    };
    this.broker.current?.process.ask(make, once);
    this.kernel.after(callDeadline, () => {
      once(undefined);
    });
  }

  #addProvider(
    name: string,
    host: Host,
    config: Partial<ProviderConfig>,
    manager?: Pick<ProviderSetup, 'askManager' | 'watchManager'>,
  ): Node<ProviderProcess> {
    const disk = new SimulatedDisk<ProviderChange>();
    const spool = new SimulatedSpool();
    return this.#node(name, host, {
      disk,
      create: (startCount, rng) =>
        new ProviderProcess({
          world: this,
          host,
          disk,
          spool,
          rng,
          reservations: this.reservations,
          instance: `i${startCount}`,
          askManager: manager?.askManager,
          watchManager: manager?.watchManager,
          config: {
            ...providerDefaults,
            ...findKeptBytes(this.scenario),
            ...config,
            ...this.#options.provider,
            providerId: name,
          },
        }),
    });
  }

  #addCluster(name: string, plan: ClusterPlan): ClusterSite {
    const front = this.#addHost(`${name}-front`);
    const nodes = Array.from({ length: plan.processors }, (_, index) => this.#addHost(`${name}-node${index}`));
    const disk = new SimulatedDisk<ClusterChange>();
    const agents = new Set<AgentProcess>();
    const cluster = this.#node(`${name}-manager`, front, {
      disk,
      create: (_startCount, rng) =>
        new ClusterProcess({
          world: this,
          name: `${name}-manager`,
          host: front,
          disk,
          rng,
          reservations: plan.holding === undefined ? this.reservations : noReservations,
          resourceId: name,
          options: {
            processors: plan.processors,
            requestsMax: plan.requestsMax,
            widthMax: plan.widthMax,
            walltimeMax: plan.walltimeMax,
            walltimeGranularity: 1000,
            policy: conservativeBackfilling(plan.compression),
            endedMax: 1000,
            ...(plan.order === undefined ? {} : { order: plan.order }),
            ...findNodes(plan),
          },
          faults: () => (this.isStormy ? plan.faults : honestManager),
          startProcess: (request, index, onExit) => {
            const place = {
              host: nodes[request.grants?.[index]?.node ?? (request.requestId + index) % nodes.length] ?? front,
              name: `${name}/${request.requestId}.${index}`,
            };
            if (request.environment['SIMULATED_REQUEST'] === undefined)
              return this.#startLocal(readRunTime(request.environment), onExit);
            return this.#startAgent(site, place, { request, index, onExit });
          },
        }),
    });
    const config: Partial<ProviderConfig> = {
      resourceKind: 'cluster',
      heuristic: plan.heuristic,
      userId: 'user',
      ...(plan.holding === undefined ? {} : { holding: plan.holding }),
      ...(plan.perHour === undefined ? {} : { perHour: plan.perHour }),
      ...(plan.firstRequests === undefined ? {} : { firstRequests: plan.firstRequests }),
    };
    const provider = this.#addProvider(name, front, config, {
      askManager: this.#askerOf(cluster),
      watchManager: plan.isWatched === true ? this.#watcherOf(cluster) : undefined,
    });
    this.heuristics.begin(`provider ${name}`, plan.heuristic);
    const site: ClusterSite = { plan, cluster, provider, agents };
    plan.local?.forEach(({ after, ...order }, index) => {
      // One user each, so that what one has does not keep out another.
      this.kernel.after(after, () => {
        submitLocally(cluster.current, { userId: `local user ${index}`, ...order });
      });
    });
    return site;
  }

  #askerOf(cluster: Node<ClusterProcess>): ProviderSetup['askManager'] {
    return (life, call, receive) => {
      const server = {
        host: cluster.host,
        find: () => {
          const { current } = cluster;
          return current === undefined
            ? undefined
            : {
                life: current.life,
                handle: (answer: (reply: unknown) => void) => {
                  current.answer(call, answer);
                },
              };
        },
      };
      this.network.call(life, server, callDeadline, (reply) => {
        receive(reply as ManagerReply | undefined);
      });
    };
  }

  #watcherOf(cluster: Node<ClusterProcess>): ProviderSetup['watchManager'] {
    return (life) =>
      this.network.open<never, QueueHint>(
        life,
        { host: cluster.host, findServer: () => cluster.current?.life },
        (end) => {
          cluster.current?.acceptWatcher(end);
        },
      );
  }

  /** A local user's process, which ends by itself. */
  #startLocal(duration: Duration, onExit: (exitStatus: number) => void): RequestProcess {
    let isOver = false;
    const end = (exitStatus: number): void => {
      if (isOver) return;
      isOver = true;
      onExit(exitStatus);
    };
    this.kernel.after(duration, () => {
      end(0);
    });
    return {
      stop: () => {
        end(143);
      },
      kill: () => {
        end(137);
      },
      preempt: () => {
        end(137);
      },
    };
  }

  #startAgent(
    { plan, provider, agents }: ClusterSite,
    place: { readonly host: Host; readonly name: string },
    { request, index, onExit }: StartedRequest,
  ): RequestProcess {
    this.#agentCount += 1;
    const rng = this.rng.fork(`agent ${this.#agentCount}`);
    const speed = 1 + plan.speedSpread * (2 * rng.fork('speed').fraction() - 1);
    const requestId = request.environment['SIMULATED_REQUEST'] ?? '';
    const grant = request.grants?.[index];
    const agent = new AgentProcess({
      world: this,
      host: place.host,
      name: `agent ${provider.name}/${requestId}.${index}`,
      speed,
      isLiar: false,
      has: grant === undefined ? undefined : { memory: grant.memory, gpus: grant.gpus.length, licences: 0 },
      rng,
      facts: {
        machineId: `${provider.name}/${index}`,
        incarnation: `a${this.#agentCount}`,
        processors: grant?.processorIds.length ?? 1,
        ...(grant === undefined ? {} : { capacity: { memory: grant.memory, gpus: grant.gpus, named: {} } }),
        attributes: { os: 'linux' },
        until: request.walltimeEnd,
        requestId,
        ...this.#gangs,
      },
      dial: (life) => this.#dialProvider(life, provider),
      onEnd: (exitStatus) => {
        agents.delete(agent);
        onExit(exitStatus);
      },
    });
    agents.add(this.#reportLife(agent));
    return {
      stop: () => {
        if (plan.signalsTasks === true) agent.stopAfterTasks();
        else agent.stop();
      },
      kill: () => {
        agent.life.end();
      },
      preempt: () => {
        agent.preempt();
      },
    };
  }

  #addLab(name: string, plan: LabPlan): LabSite {
    const front = this.#addHost(`${name}-front`);
    const provider = this.#addProvider(name, front, { resourceKind: 'machines' });
    const agents = plan.machines.map((machinePlan, index) => {
      const { processors, speed, isLiar, sabotage, has } = machinePlan;
      const machine = `${name}-pc${index}`;
      const host = this.#addHost(machine);
      return this.#node(machine, host, {
        disk: undefined,
        create: (startCount, rng) =>
          new AgentProcess({
            world: this,
            host,
            name: `agent ${name}/pc${index}`,
            speed,
            isLiar,
            sabotage,
            has,
            rng,
            facts: {
              machineId: `${name}/pc${index}${sabotage?.renames === true ? `-${startCount}` : ''}`,
              identity: machine,
              incarnation: `${machine}-${startCount}`,
              processors,
              attributes: { os: 'linux' },
              until: undefined,
              requestId: '',
              ...findCapacity(machinePlan),
              ...this.#gangs,
            },
            dial: (life) => this.#dialProvider(life, provider),
            onEnd: () => undefined,
          }),
      });
    });
    return { plan, provider, agents };
  }

  #dialProvider(
    life: Life,
    provider: Node<ProviderProcess>,
  ): ReturnType<ConstructorParameters<typeof AgentProcess>[0]['dial']> {
    return this.network.open(
      life,
      { host: provider.host, findServer: () => provider.current?.life },
      (end: StreamEnd<never, never>) => {
        provider.current?.relay.acceptAgent(end);
      },
    );
  }
}

function getLease({ lease }: Scenario): Partial<BrokerOptions> {
  return lease === undefined ? {} : { lease: { ...defaultBrokerOptions.lease, horizon: lease.horizon } };
}

function findKeptBytes({ lease }: Scenario): Partial<ProviderConfig> {
  return lease?.keptBytesMax === undefined ? {} : { keptBytesMax: lease.keptBytesMax };
}

type UserAsk = ConstructorParameters<typeof SimulatedUser>[0]['ask'];

interface StartedRequest {
  readonly request: {
    readonly walltimeEnd: Instant;
    readonly environment: Readonly<Record<string, string>>;
    readonly grants?: readonly NodeGrant[];
  };
  readonly index: number;
  onExit(exitStatus: number): void;
}
