import {
  createProviderState,
  takeSnapshot,
  isDurable,
  isWatching,
  keptKey,
  measureInterval,
  providerMachine,
  restoreSnapshot,
  type ProviderChange,
  type ProviderCommand,
  type ProviderConfig,
  type ProviderInput,
  type ProviderSnapshot,
  type ProviderState,
} from '@mutirao/core/machines/provider';
import { outlineLease } from '@mutirao/core/bag';
import type { ClaimedReservation, Content, Lease, ReservedWindow } from '@mutirao/core/messages';
import { type DriverCommand, type Duration, type MachineId, type Prng, type RequestId } from '@mutirao/core/shared';
import type { SimulatedDisk } from './disk.ts';
import { Life, type Host, type HostClock } from './host.ts';
import { MachineProcess } from './machine-process.ts';
import type { ManagerCall, ManagerReply, QueueHint } from './messages.ts';
import type { StreamEnd } from './network.ts';
import { drawTime } from './pace.ts';
import { SimulatedRelay } from './relay.ts';
import type { FakeReservationManager } from './fake-reservation-manager.ts';
import type { SimulatedSpool } from './spool.ts';
import type { Surroundings } from './surroundings.ts';
import { TaskMeasure } from './task-measure.ts';

/** What a provider's process is started with. */
export interface ProviderSetup {
  readonly world: Surroundings;
  readonly host: Host;
  readonly config: ProviderConfig;
  readonly disk: SimulatedDisk<ProviderChange>;
  readonly spool: SimulatedSpool;
  /** The reservation manager; it is asked only where allocations are held for reservations. */
  readonly reservations: Pick<FakeReservationManager, 'getWindows' | 'judge' | 'isAway'>;
  readonly rng: Prng;
  /** Fresh for each start. */
  readonly instance: string;
  /**
   * Asks the resource manager; undefined where machines attach by themselves. `hear` gets undefined when no answer
   * came.
   */
  readonly askManager:
    | ((life: Life, call: ManagerCall, receive: (reply: ManagerReply | undefined) => void) => void)
    | undefined;
  /** Has the resource manager hint at changes; undefined where it does not. */
  readonly watchManager: ((life: Life) => StreamEnd<never, QueueHint>) | undefined;
}

type SubmitRequest = Extract<ProviderCommand, { readonly kind: 'SubmitRequest' }>;

/** As in the live provider. */
const submitTries = 3;
const firstPause: Duration = 200;
const queueInterval: Duration = 3_000;
const readingsPerLimits = 200;
const endedListedMax = 50;
const rewatchPause: Duration = 1_000;
/** Longest time until the reservation manager has answered, or reported a change. */
const reservationCallMax: Duration = 200;
const changesPerSnapshot = 200;

/** One run of a provider: the machine, its relay, and its ways to the resource manager. */
export class ProviderProcess {
  readonly life: Life;
  readonly process: MachineProcess<ProviderState, ProviderInput, ProviderChange, ProviderCommand>;
  readonly relay: SimulatedRelay;
  readonly #setup: ProviderSetup;
  readonly #clock: HostClock;
  readonly #measure: TaskMeasure;
  #isReading = false;
  #isHinted = false;
  #readingsToLimits = 0;
  #readingCount = 0;

  constructor(setup: ProviderSetup) {
    this.#setup = setup;
    const { world, host, disk, config, rng, instance } = setup;
    this.life = new Life(host);
    this.#clock = host.openClock();
    this.#measure = new TaskMeasure(() => this.#clock.now());
    this.process = new MachineProcess<ProviderState, ProviderInput, ProviderChange, ProviderCommand>({
      name: `provider ${config.providerId}`,
      kernel: world.kernel,
      life: this.life,
      clock: this.#clock,
      machine: providerMachine,
      disk,
      state: recover(disk, config),
      isDurable,
      rng: rng.fork('turns'),
      turnDelayMax: world.turnDelayMax,
      onTurn: (turn) => {
        world.onTurn(turn);
      },
      onCommitted: (changes) => {
        world.onCommitted(this.process.name);
        this.#onCommitted(changes);
      },
      onClockStepped: (by) => {
        this.#measure.moveClock(by);
        this.relay.greetAgain();
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
    });
    this.relay = new SimulatedRelay({
      now: () => this.#clock.now(),
      resourceId: setup.askManager === undefined ? undefined : config.providerId,
      deliver: (input) => {
        this.process.deliver(input);
      },
      nameMachine: (machineId, requestId) => nameMachine(config.providerId, machineId, requestId),
      onReport: (agent, report) => {
        this.#measure.receive(agent, report);
      },
      onAway: (machineId) => {
        this.#measure.forget(machineId);
      },
      spool: setup.spool,
      onLease: (brokerId, connectionId, lease) => {
        this.#takeLease(brokerId, connectionId, lease);
      },
    });
    this.process.deliver({ kind: 'ProviderStarted', instance });
    for (const { brokerId, lease } of this.process.state.brokers.values()) {
      const body = lease === undefined ? undefined : setup.spool.findLease(brokerId, lease.outline.sequence);
      if (body !== undefined) this.#reportInputsStaged(brokerId, body);
    }
    this.#forgetDropped();
    this.onReservations();
    this.#watch();
    this.#read();
    this.#reportMeasuredAgain();
  }

  /** What one that starts now would know. */
  recover(): ProviderState {
    const { disk, config } = this.#setup;
    return replay(disk, config).state;
  }

  #perform(command: Exclude<ProviderCommand, DriverCommand>): void {
    switch (command.kind) {
      case 'SubmitRequest':
        this.#submit(command, submitTries);
        break;
      case 'ReleaseRequest':
        this.#release(command.requestId, command.managerRequestId);
        break;
      case 'JudgeClaim':
        this.#judge(command.reservation);
        break;
      case 'ReportProvisioning':
        break; // For users only: no process of a world decides by it.
      default:
        this.relay.perform(command);
    }
  }

  /** The level of reservations, as the manager reports it at each change, and after either side was away. */
  onReservations(): void {
    this.#askReservations(({ isAway, windows }) => {
      if (!isAway) this.process.deliver({ kind: 'WindowsReported', windows });
    });
  }

  #judge(reservation: ClaimedReservation): void {
    this.#askReservations(() => {
      this.process.deliver({
        kind: 'ClaimJudged',
        claim: reservation.claim,
        code: this.#setup.reservations.judge(reservation),
      });
    });
  }

  /** The answer takes its time, and is of the moment at which it comes. */
  #askReservations(
    receive: (answer: { readonly isAway: boolean; readonly windows: readonly ReservedWindow[] }) => void,
  ): void {
    const { world, rng, reservations, config } = this.#setup;
    if (config.holding === undefined) return;
    world.kernel.after(drawTime(rng, reservationCallMax), () => {
      if (!this.life.isOver)
        receive({ isAway: reservations.isAway, windows: reservations.getWindows(config.providerId) });
    });
  }

  #onCommitted(changes: readonly ProviderChange[]): void {
    const { world, spool } = this.#setup;
    world.leases.onProvider(changes);
    for (const change of changes) {
      if (change.kind === 'ReportsForgotten') spool.forgetReports(keptKey(change), change.upTo);
      if (change.kind === 'LeaseTaken') spool.forgetLeases(change.brokerId, change.lease.sequence);
    }
  }

  /** The host fell after a report was dropped and before that was on the disk: its broker has it. */
  #forgetDropped(): void {
    for (const [
      key,
      {
        brokerId,
        facts: { machineId },
        reports,
      },
    ] of this.process.state.kept) {
      const dropped = reports.findLast(({ sequence }) => !this.#setup.spool.hasReport(key, sequence));
      if (dropped !== undefined)
        this.process.deliver({ kind: 'SpooledAcknowledged', brokerId, machineId, sequence: dropped.sequence });
    }
  }

  #takeLease(brokerId: string, connectionId: number, lease: Lease): void {
    const { world, rng, spool } = this.#setup;
    this.process.deliver({ kind: 'LeaseGranted', brokerId, connectionId, lease: outlineLease(lease) });
    if (this.#reportInputsStaged(brokerId, lease)) return;
    // The inputs come from home, which takes a moment, and the broker may be gone before.
    world.kernel.after(drawTime(rng, 10 * world.pace.settleMax), () => {
      if (this.life.isOver || this.process.state.brokers.get(brokerId)?.connectionId !== connectionId) return;
      for (const { sha256 } of listContents(lease)) spool.contents.add(sha256);
      this.#reportInputsStaged(brokerId, lease);
    });
  }

  /** Reports that the inputs of a lease are here, if they are. */
  #reportInputsStaged(brokerId: string, lease: Lease): boolean {
    if (!listContents(lease).every(({ sha256 }) => this.#setup.spool.contents.has(sha256))) return false;
    const replicaIds = lease.groups.flatMap(({ start }) => start.replicas.map(({ replicaId }) => replicaId));
    this.process.deliver({ kind: 'InputsStaged', brokerId, sequence: lease.sequence, replicaIds });
    return true;
  }

  #submit(command: SubmitRequest, triesLeft: number): void {
    const { requestId, clientRequestId, userId, width, slot, walltime, reservation } = command;
    const { world, rng } = this.#setup;
    const order = {
      userId,
      width,
      walltime,
      clientRequestId,
      command: ['agent'],
      environment: { SIMULATED_REQUEST: requestId },
      workingDirectory: '',
      ...(slot === undefined ? {} : { slot }),
      ...(reservation === undefined ? {} : { reservation }),
    };
    this.#setup.askManager?.(this.life, { kind: 'allocate', order }, (reply) => {
      if (reply === undefined && triesLeft > 1) {
        world.kernel.after(firstPause * 4 ** (submitTries - triesLeft) * (0.5 + rng.fraction()), () => {
          if (!this.life.isOver) this.#submit(command, triesLeft - 1);
        });
        return;
      }
      if (reply === undefined)
        this.process.deliver({ kind: 'SubmitUnknown', requestId, reason: 'MUT_DEADLINE_EXCEEDED' });
      else if (!reply.ok)
        this.process.deliver({
          kind: 'SubmitRefused',
          requestId,
          reason: `${reply.code}, ${reply.message}`,
          code: reply.code,
          ...(reply.code === 'MUT_DISK_FULL' ? { isPassing: true } : {}),
        });
      else if ('requestId' in reply)
        this.process.deliver({ kind: 'SubmitAccepted', requestId, managerRequestId: reply.requestId });
      this.#hint();
    });
  }

  #release(requestId: RequestId, managerRequestId: string): void {
    this.#setup.askManager?.(this.life, { kind: 'release', managerRequestId }, (reply) => {
      if (reply?.ok === true) this.process.deliver({ kind: 'ReleaseDone', requestId });
      else this.process.deliver({ kind: 'ReleaseFailed', requestId, reason: reply?.code ?? 'MUT_DEADLINE_EXCEEDED' });
    });
  }

  #watch(): void {
    const { watchManager, world } = this.#setup;
    if (watchManager === undefined || this.life.isOver) return;
    const stream = watchManager(this.life);
    stream.onMessage = () => {
      this.#hint();
    };
    stream.onClosed = () => {
      world.kernel.after(rewatchPause, () => {
        this.#watch();
      });
    };
  }

  #hint(): void {
    if (this.#isReading) this.#isHinted = true;
    else this.#read();
  }

  /** Reads the queue, now and then the limits first, and again after a while; one reading at a time. */
  #read(): void {
    const { askManager } = this.#setup;
    if (askManager === undefined || this.life.isOver) return;
    this.#isReading = true;
    this.#isHinted = false;
    this.#readingCount += 1;
    if (this.#readingsToLimits > 0) {
      this.#readingsToLimits -= 1;
      this.#readQueue();
      return;
    }
    askManager(this.life, { kind: 'limits' }, (reply) => {
      if (reply?.ok !== true || !('limits' in reply)) {
        this.#endReading({ kind: 'QueueReadFailed', reason: 'MUT_UNREACHABLE' });
        return;
      }
      this.#readingsToLimits = readingsPerLimits;
      this.process.deliver({ kind: 'LimitsRead', limits: reply.limits });
      this.#readQueue();
    });
  }

  #readQueue(): void {
    const readAt = this.#clock.now();
    this.#setup.askManager?.(this.life, { kind: 'queue', endedMax: endedListedMax }, (reply) => {
      if (reply?.ok === true && 'listing' in reply)
        this.#endReading({ kind: 'QueueListed', listing: reply.listing, readAt });
      else this.#endReading({ kind: 'QueueReadFailed', reason: reply?.ok === false ? reply.code : 'MUT_UNREACHABLE' });
    });
  }

  #endReading(input: ProviderInput): void {
    this.#isReading = false;
    // A listing may show that a request ended: what its tasks took is known by then.
    this.#reportMeasured();
    this.process.deliver(input);
    if (this.#isHinted) {
      this.#read();
      return;
    }
    const { world, rng } = this.#setup;
    const reading = this.#readingCount;
    world.kernel.after(queueInterval * (0.8 + 0.4 * rng.fraction()), () => {
      if (!this.#isReading && this.#readingCount === reading) this.#read();
    });
  }

  #reportMeasured(): void {
    for (const input of this.#measure.take()) this.process.deliver(input);
    // Delivered only to a state machine that uses it, as by the live provider: every delivery takes a turn.
    for (const input of this.#measure.takeRunning()) if (isWatching(this.process.state)) this.process.deliver(input);
  }

  #reportMeasuredAgain(): void {
    if (this.life.isOver) return;
    this.#reportMeasured();
    this.#setup.world.kernel.after(measureInterval, () => {
      this.#reportMeasuredAgain();
    });
  }
}

function listContents(lease: Lease): Content[] {
  return lease.groups.flatMap(({ start }) =>
    start.replicas.flatMap(({ inputs }) => inputs.map(({ content }) => content)),
  );
}

function nameMachine(providerId: string, reported: MachineId, requestId: RequestId): MachineId {
  const name = reported.slice(reported.lastIndexOf('/') + 1);
  return requestId === '' ? `${providerId}/${name}` : `${providerId}/${requestId}.${name}`;
}

/** As the live provider does: the latest snapshot and what came after it; a new snapshot when that was much. */
function recover(disk: SimulatedDisk<ProviderChange>, config: ProviderConfig): ProviderState {
  const { state, replayedCount } = replay(disk, config);
  if (replayedCount >= changesPerSnapshot && !disk.isFull) disk.writeSnapshot(JSON.stringify(takeSnapshot(state)));
  return state;
}

function replay(
  disk: SimulatedDisk<ProviderChange>,
  config: ProviderConfig,
): { readonly state: ProviderState; readonly replayedCount: number } {
  const snapshot = disk.latestSnapshot();
  const state =
    snapshot === undefined
      ? createProviderState(config)
      : restoreSnapshot(config, JSON.parse(snapshot) as ProviderSnapshot);
  let replayedCount = 0;
  disk.replay((change) => {
    providerMachine.apply(state, change);
    replayedCount += 1;
  });
  return { state, replayedCount };
}
