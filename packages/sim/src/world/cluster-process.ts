import {
  clusterMachine,
  createClusterState,
  listQueue,
  restoreSnapshot,
  takeSnapshot,
  type ClusterChange,
  type ClusterCommand,
  type ClusterInput,
  type ClusterOptions,
  type ClusterSnapshot,
  type ClusterState,
} from '@mutirao/core/machines/cluster';
import type { Refusal } from '@mutirao/core/reasons';
import type { QueueListing, ResourceLimits } from '@mutirao/core/messages';
import { unreachable, type DriverCommand, type Duration, type Prng, type Reply } from '@mutirao/core/shared';
import type { SimulatedDisk } from './disk.ts';
import { Life, type Host, type HostClock } from './host.ts';
import { MachineProcess } from './machine-process.ts';
import type { ManagerCall, ManagerReply, QueueHint } from './messages.ts';
import type { StreamEnd } from './network.ts';
import { drawTime } from './pace.ts';
import type { FakeReservationManager } from './fake-reservation-manager.ts';
import type { ManagerFaults } from './scenario.ts';
import type { Surroundings } from './surroundings.ts';

/** A process of a request's command. */
export interface RequestProcess {
  /** SIGTERM. */
  stop(): void;
  /** SIGKILL. */
  kill(): void;
  /** SIGKILL by the manager, for another's sake. */
  preempt(): void;
}

type StartProcesses = Extract<ClusterCommand, { readonly kind: 'StartProcesses' }>;

/** What a cluster's process is started with. */
export interface ClusterSetup {
  readonly world: Surroundings;
  readonly name: string;
  readonly host: Host;
  readonly options: ClusterOptions;
  readonly disk: SimulatedDisk<ClusterChange>;
  readonly rng: Prng;
  /** The reservations that it honours. */
  readonly reservations: Pick<FakeReservationManager, 'getWindows' | 'admit'>;
  /** What its resource is called there. */
  readonly resourceId: string;
  /** What it does wrong now. */
  faults(): ManagerFaults;
  /** Starts one process of a request on a node; `onExit` is called when it ends. */
  startProcess(request: StartProcesses, index: number, onExit: (exitStatus: number) => void): RequestProcess;
}

/** What a process that ran on a lost node has ended with. */
const lostStatus = 255;
/** What a process that got SIGKILL has ended with. */
const killedStatus = 137;
const killGrace: Duration = 5_000;
const lateMax: Duration = 600_000;
const listingsKept = 5;
const changesPerSnapshot = 200;

/** One run of a cluster's resource manager, with all that it starts. */
export class ClusterProcess {
  readonly life: Life;
  readonly process: MachineProcess<ClusterState, ClusterInput, ClusterChange, ClusterCommand>;
  readonly #setup: ClusterSetup;
  readonly #clock: HostClock;
  readonly #running = new Map<number, Set<RequestProcess>>();
  /** Which processor each process has that has not ended: the first that was free. */
  readonly #getProcessor = new Map<string, number>();
  /** Which process of a request each is. */
  readonly #keys = new WeakMap<RequestProcess, string>();
  /** Requests that were taken away, and are still listed as running. */
  readonly #preempted = new Set<number>();
  /** Processors of the node that is away, the first ones. */
  #awayCount = 0;
  readonly #formerListings: QueueListing[] = [];
  readonly #watchers = new Set<StreamEnd<QueueHint, never>>();

  constructor(setup: ClusterSetup) {
    this.#setup = setup;
    const { world, host, disk, options, rng, name } = setup;
    this.life = new Life(host);
    // Its watchdog ends all that it started.
    this.life.holds(() => {
      for (const group of this.#running.values()) for (const process of group) process.kill();
    });
    this.#clock = host.openClock();
    this.process = new MachineProcess<ClusterState, ClusterInput, ClusterChange, ClusterCommand>({
      name,
      kernel: world.kernel,
      life: this.life,
      clock: this.#clock,
      machine: clusterMachine,
      disk,
      state: recover(disk, options),
      // As the live journal syncs.
      isDurable: ({ kind }) => kind === 'RequestQueued',
      rng: rng.fork('turns'),
      turnDelayMax: world.turnDelayMax,
      onTurn: (turn) => {
        world.onTurn(turn);
      },
      perform: (command) => {
        this.#perform(command);
      },
      onFatal: (error) => {
        world.endOrFail(this.life, error);
      },
      onFall: () => {
        this.life.end();
      },
      onCommitted: () => {
        for (const watcher of this.#watchers) watcher.write({ kind: 'changed' });
      },
    });
    this.process.deliver({ kind: 'ClusterStarted' });
    this.onReservations();
  }

  /** The level of reservations, as the manager reports it at each change. */
  onReservations(): void {
    const { reservations, resourceId } = this.#setup;
    this.process.deliver({ kind: 'ReservationsReported', windows: reservations.getWindows(resourceId) });
  }

  /** Hints at every change of the queue from now on. */
  acceptWatcher(stream: StreamEnd<QueueHint, never>): void {
    this.#watchers.add(stream);
    stream.onClosed = () => {
      this.#watchers.delete(stream);
    };
    stream.write({ kind: 'changed' });
  }

  /** The node with the first `count` processors is away, and what runs there is over; 0 has it back. */
  loseProcessors(count: number): void {
    this.#awayCount = count;
    this.process.deliver({ kind: 'ProcessorsAway', count });
    for (const [key, processor] of [...this.#getProcessor]) {
      if (processor >= count) continue;
      const [requestId = 0, index = 0] = key.split('.').map(Number);
      this.#reportExit(requestId, index, lostStatus, 'MUT_NODE_LOST');
      for (const process of [...this.#groupOf(requestId)]) if (this.#keys.get(process) === key) process.kill();
    }
  }

  /**
   * Takes a running request away at once. @param choice in [0, 1), which of them. @param listedAfter when its end is
   * known to the queue.
   */
  preempt(choice: number, listedAfter: Duration): void {
    const running = [...this.#running].filter(
      ([requestId, group]) => group.size > 0 && !this.#preempted.has(requestId),
    );
    const [requestId, group] = running[Math.floor(choice * running.length)] ?? [];
    if (requestId === undefined || group === undefined) return;
    const { kernel } = this.#setup.world;
    this.#preempted.add(requestId);
    for (const process of [...group]) process.preempt();
    kernel.after(listedAfter, () => {
      if (!this.life.isOver) this.#listPreempted(requestId);
    });
  }

  #listPreempted(requestId: number): void {
    this.#preempted.delete(requestId);
    for (const key of [...this.#getProcessor.keys()]) {
      const [id = 0, index = 0] = key.split('.').map(Number);
      if (id === requestId) this.#reportExit(requestId, index, killedStatus, 'PREEMPTED');
    }
  }

  /** Answers a call of a provider or of a local user. */
  answer(call: ManagerCall, receive: (reply: ManagerReply) => void): void {
    switch (call.kind) {
      case 'allocate':
        this.#allocate(call.order, receive);
        break;
      case 'release':
        this.process.ask(
          (replyTo) => ({ kind: 'ReleaseRequested', replyTo, requestId: Number(call.managerRequestId) }),
          (reply) => {
            receive(reply.ok ? { ok: true } : refused(reply));
          },
        );
        break;
      case 'limits':
        receive({ ok: true, limits: findLimits(this.#setup.options) });
        break;
      case 'queue':
        receive(this.#list(call.endedMax));
        break;
      default:
        unreachable(call);
    }
  }

  /** A claim is verified first, and its reservation may be news. */
  #allocate(
    { reservation, ...asked }: Extract<ManagerCall, { readonly kind: 'allocate' }>['order'],
    receive: (reply: ManagerReply) => void,
  ): void {
    const admitted = reservation === undefined ? undefined : this.#setup.reservations.admit(reservation);
    if (admitted !== undefined && 'code' in admitted) {
      receive({ ok: false, ...admitted });
      return;
    }
    if (admitted !== undefined) this.process.deliver({ kind: 'ReservationShown', window: admitted });
    const order = admitted === undefined ? asked : { ...asked, reservationId: admitted.reservationId };
    this.process.ask(
      (replyTo) => ({ kind: 'AllocationRequested', replyTo, order }),
      (reply) => {
        receive(requestReply(reply));
      },
    );
  }

  /** The queue, or what a manager that fails, lags or lies says of it. */
  #list(endedMax: number): ManagerReply {
    const { rng } = this.#setup;
    const { listingFails, listingLags, listingLies } = this.#setup.faults();
    const listing = listQueue(this.process.state, this.#clock.now(), endedMax, 'user');
    const [old] = this.#formerListings;
    this.#formerListings.push(listing);
    if (this.#formerListings.length > listingsKept) this.#formerListings.shift();
    if (rng.fraction() < listingFails)
      return { ok: false, code: 'MUT_UNREACHABLE', message: 'the listing came to nothing' };
    if (old !== undefined && rng.fraction() < listingLags) return { ok: true, listing: old };
    if (listing.requests.length === 0 || rng.fraction() >= listingLies) return { ok: true, listing };
    const left = rng.below(listing.requests.length);
    return { ok: true, listing: { ...listing, requests: listing.requests.filter((_, index) => index !== left) } };
  }

  /** What one that starts now would know. */
  recover(): ClusterState {
    const { disk, options } = this.#setup;
    return replay(disk, options).state;
  }

  #perform(command: Exclude<ClusterCommand, DriverCommand>): void {
    switch (command.kind) {
      case 'StartProcesses':
        this.#start(command);
        break;
      case 'KillProcesses':
        this.#killAll(command.requestId);
        break;
      default:
        unreachable(command);
    }
  }

  #start(request: StartProcesses): void {
    const { world, rng } = this.#setup;
    const { startsLate, startsNothing, startsTwice } = this.#setup.faults();
    this.#running.set(request.requestId, new Set());
    const indexes = Array.from({ length: request.grants?.length ?? request.width }, (_, index) => index);
    const startable = indexes.filter((index) => {
      if (this.#take(request.requestId, index)) return true;
      this.#reportExit(request.requestId, index, lostStatus, 'MUT_NODE_LOST');
      return false;
    });
    if (rng.fraction() < startsNothing) {
      for (const index of startable) this.#holdNothing(request.requestId, index);
      return;
    }
    const delay = rng.fraction() < startsLate ? rng.below(lateMax) : drawTime(rng, world.pace.startMax);
    const copies = rng.fraction() < startsTwice ? 2 : 1;
    for (const index of startable) {
      const starting = this.#holdNothing(request.requestId, index);
      world.kernel.after(delay, () => {
        if (starting.begin()) this.#startOne(request, index, copies);
      });
    }
  }

  /** A processor that is held while nothing runs on it. */
  #holdNothing(requestId: number, index: number): RequestProcess & { begin(): boolean } {
    const group = this.#groupOf(requestId);
    const end = (): void => {
      if (group.delete(held)) this.#reportExit(requestId, index, 143);
    };
    const held = { stop: end, kill: end, preempt: end, begin: () => !this.life.isOver && group.delete(held) };
    group.add(held);
    this.#keys.set(held, getKey(requestId, index));
    return held;
  }

  #startOne(request: StartProcesses, index: number, copies: number): void {
    const group = this.#groupOf(request.requestId);
    let living = copies;
    for (let copy = 0; copy < copies; copy += 1) {
      const process = this.#setup.startProcess(request, index, (exitStatus) => {
        group.delete(process);
        living -= 1;
        if (living === 0) this.#reportExit(request.requestId, index, exitStatus);
      });
      group.add(process);
      this.#keys.set(process, getKey(request.requestId, index));
    }
  }

  /** Reports the end of a process, once. */
  #reportExit(requestId: number, processIndex: number, exitStatus: number, reason?: string): void {
    if (this.#preempted.has(requestId) || !this.#getProcessor.delete(getKey(requestId, processIndex))) return;
    this.process.deliver({
      kind: 'ProcessExited',
      requestId,
      processIndex,
      exitStatus,
      ...(reason === undefined ? {} : { reason }),
    });
  }

  /**
   * Gives a process the first processor that is free on a node that is up. @returns false where there is none, since
   * the node has gone in this very turn.
   */
  #take(requestId: number, index: number): boolean {
    const taken = new Set(this.#getProcessor.values());
    let processor = this.#awayCount;
    while (taken.has(processor)) processor += 1;
    this.#getProcessor.set(getKey(requestId, index), processor);
    return processor < this.#setup.options.processors;
  }

  #killAll(requestId: number): void {
    const group = this.#groupOf(requestId);
    for (const process of [...group]) process.stop();
    this.#setup.world.kernel.after(killGrace, () => {
      for (const process of [...group]) process.kill();
    });
  }

  #groupOf(requestId: number): Set<RequestProcess> {
    const group = this.#running.get(requestId) ?? new Set<RequestProcess>();
    this.#running.set(requestId, group);
    return group;
  }
}

function getKey(requestId: number, index: number): string {
  return `${requestId}.${index}`;
}

/** What goes over the wire of the options. */
function findLimits({
  processors,
  requestsMax,
  walltimeMax,
  widthMax,
  walltimeGranularity,
  nodes,
}: ClusterOptions): ResourceLimits {
  const limits = { processors, requestsMax, walltimeMax, widthMax, walltimeGranularity };
  return nodes === undefined ? limits : { ...limits, nodes };
}

function requestReply(reply: Reply): ManagerReply {
  return reply.ok
    ? { ok: true, requestId: String((reply.value as { readonly requestId: number }).requestId) }
    : refused(reply);
}

/** A manager says why by its code: the simulator makes no sentences. */
function refused({ code, fault }: Refusal): ManagerReply {
  return { ok: false, code, message: fault.code };
}

/** As the live cluster does: the latest snapshot and what came after it; a new snapshot when that was much. */
function recover(disk: SimulatedDisk<ClusterChange>, options: ClusterOptions): ClusterState {
  const { state, replayedCount } = replay(disk, options);
  if (replayedCount >= changesPerSnapshot && !disk.isFull) disk.writeSnapshot(JSON.stringify(takeSnapshot(state)));
  return state;
}

function replay(
  disk: SimulatedDisk<ClusterChange>,
  options: ClusterOptions,
): { readonly state: ClusterState; readonly replayedCount: number } {
  const snapshot = disk.latestSnapshot();
  const state =
    snapshot === undefined
      ? createClusterState(options)
      : restoreSnapshot(options, JSON.parse(snapshot) as ClusterSnapshot);
  let replayedCount = 0;
  disk.replay((change) => {
    clusterMachine.apply(state, change);
    replayedCount += 1;
  });
  return { state, replayedCount };
}
