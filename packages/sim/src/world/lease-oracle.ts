import { defaultBrokerOptions, type BrokerChange, type BrokerInput } from '@mutirao/core/machines/broker';
import {
  keptKey,
  type ProviderChange,
  type ProviderCommand,
  type ProviderInput,
} from '@mutirao/core/machines/provider';
import { getIdentity } from '@mutirao/core/messages';
import {
  invariant,
  type Duration,
  type Instant,
  type MachineId,
  type ProviderId,
  type ReplicaId,
} from '@mutirao/core/shared';
import type { WorldTurn } from './machine-process.ts';

type BrokerChangeOf<Kind extends BrokerChange['kind']> = Extract<BrokerChange, { readonly kind: Kind }>;
type ChangeOf<Kind extends ProviderChange['kind']> = Extract<ProviderChange, { readonly kind: Kind }>;
type StartLeased = Extract<ProviderCommand, { readonly kind: 'StartLeased' }>;

/** How long a broker waits for a provider to report what it holds. */
const { onWithin } = defaultBrokerOptions;

/** Processes of providers are called so, and by their ids. */
const providerPrefix = 'provider ';

/** A provider that goes on alone. */
interface Standby {
  readonly since: Instant;
  readonly horizon: Duration;
}

/**
 * Records leases, spools and reports as the journals state them, and checks them: a standby starts only what was leased
 * to it, no longer than it may, and on no machine that it knows was caught; ids are given once; and no report is
 * forgotten that the broker does not have.
 */
export class LeaseOracle {
  readonly #skewMax: Duration;
  /** What each leased id is for: a provider, and a task of a job. */
  readonly #leased = new Map<ReplicaId, string>();
  /** Replicas leased by brokers whose journals are gone: a provider that does not know of the loss may start them. */
  readonly #formerly = new Map<ReplicaId, Set<ProviderId>>();
  /** The tasks of each provider's last lease. */
  readonly #tasks = new Map<ProviderId, ReadonlySet<string>>();
  /** Replicas whose end was reported to the broker. */
  readonly #received = new Set<ReplicaId>();
  /** The replicas whose ends are in the reports that are kept, by run of an agent and sequence. */
  readonly #kept = new Map<string, Map<number, readonly ReplicaId[]>>();
  readonly #horizons = new Map<ProviderId, Duration>();
  readonly #standbys = new Map<ProviderId, Standby>();
  /**
   * The caught machines that each provider received with its last lease, and those that it had received when it last
   * confirmed one.
   */
  readonly #quarantinedReceived = new Map<ProviderId, readonly string[]>();
  readonly #caughtKept = new Map<ProviderId, readonly string[]>();
  readonly #identities = new Map<MachineId, string>();
  /**
   * Providers whose initial sync has not ended since the broker was first connected to them again, with that instant.
   */
  readonly #reporting = new Map<ProviderId, Instant>();

  /** @param skewMax how far clocks may be off: those of a standby and of its next life differ by twice as much. */
  constructor(skewMax: Duration) {
    this.#skewMax = skewMax;
  }

  /** The broker's journal is gone: nothing that it leased may reach the next one. */
  forgetBroker(): void {
    for (const [replicaId, leased] of this.#leased) {
      const providers = this.#formerly.get(replicaId) ?? new Set();
      this.#formerly.set(replicaId, providers.add(leased.slice(0, leased.indexOf(' '))));
    }
    this.#leased.clear();
    this.#tasks.clear();
    this.#reporting.clear();
  }

  /** Checks a turn. */
  receive(turn: WorldTurn): void {
    if (turn.process === 'broker') this.#onBrokerTurn(turn);
    else if (turn.process.startsWith(providerPrefix))
      this.#onProviderTurn(turn.process.slice(providerPrefix.length), turn);
  }

  #onBrokerTurn({ at, inputs, changes }: WorldTurn): void {
    for (const input of inputs as readonly BrokerInput[]) {
      this.#onReport(input);
      this.#onConnection(input, at);
    }
    for (const change of changes as readonly BrokerChange[])
      if (change.kind === 'ReplicasDispatched' && change.isAdopted !== true) this.#checkAsked(change, at);
  }

  #onProviderTurn(providerId: ProviderId, { at, inputs, changes, commands }: WorldTurn): void {
    for (const input of inputs as readonly ProviderInput[])
      if (input.kind === 'LeaseGranted') this.#quarantinedReceived.set(providerId, input.lease.quarantined ?? []);
    for (const change of changes as readonly ProviderChange[]) this.#onStandby(providerId, change, at);
    for (const command of commands as readonly ProviderCommand[]) this.#onCommand(providerId, command, at);
  }

  #onCommand(providerId: ProviderId, command: ProviderCommand, at: Instant): void {
    if (command.kind === 'StartLeased') this.#onStart(providerId, command, at);
    if (command.kind === 'ConfirmLease')
      this.#caughtKept.set(providerId, this.#quarantinedReceived.get(providerId) ?? []);
  }

  #onReport(input: BrokerInput): void {
    if (input.kind === 'MachineReported') for (const { replicaId } of input.report.ended) this.#received.add(replicaId);
  }

  #onConnection(input: BrokerInput, at: Instant): void {
    // A provider that comes and goes without an initial sync is waited for once, from when it first came.
    if (input.kind === 'ProviderConnected' && !this.#reporting.has(input.providerId))
      this.#reporting.set(input.providerId, at);
    if (input.kind === 'ProviderSynced') this.#reporting.delete(input.providerId);
  }

  /** Before it places tasks that a provider may have started, the broker asks what is alive there. */
  #checkAsked({ jobId, machineId, taskIndexes }: BrokerChangeOf<'ReplicasDispatched'>, at: Instant): void {
    for (const [providerId, since] of this.#reporting) {
      if (at >= since + onWithin - 2 * this.#skewMax) continue;
      const task = taskIndexes.find((taskIndex) => this.#tasks.get(providerId)?.has(`${jobId}.${taskIndex}`) === true);
      invariant(
        task === undefined,
        `task ${jobId}.${task ?? 0} is placed on ${machineId}, was leased to ${providerId}, which has not ` +
          'reported what it holds',
      );
    }
  }

  #onStandby(providerId: ProviderId, change: ProviderChange, at: Instant): void {
    if (change.kind === 'MachineJoined') this.#identities.set(change.facts.machineId, getIdentity(change.facts));
    if (change.kind === 'LeaseTaken') this.#horizons.set(providerId, change.lease.horizon);
    if (change.kind === 'StandbyBegan')
      this.#standbys.set(providerId, { since: at, horizon: this.#horizons.get(providerId) ?? 0 });
  }

  #onStart(providerId: ProviderId, { machineId, replicaIds }: StartLeased, at: Instant): void {
    const standby = this.#standbys.get(providerId);
    invariant(standby !== undefined, `${machineId} is given leased tasks, and ${providerId} is not a standby`);
    const late = at - (standby.since + standby.horizon + 2 * this.#skewMax);
    invariant(late <= 0, `${machineId} is given leased tasks ${late} ms after the lease ended`);
    const identity = this.#identities.get(machineId) ?? machineId;
    const isQuarantined = [this.#quarantinedReceived, this.#caughtKept].every(
      (quarantined) => quarantined.get(providerId)?.includes(identity) === true,
    );
    invariant(
      !isQuarantined,
      `${machineId} is given leased tasks, and ${providerId} knows that ${identity} was caught`,
    );
    for (const replicaId of replicaIds) {
      const leased = this.#leased.get(replicaId) ?? 'nothing';
      invariant(
        leased.startsWith(`${providerId} `) || this.#formerly.get(replicaId)?.has(providerId) === true,
        `r${replicaId} starts on ${machineId}, and was leased as ${leased}`,
      );
    }
  }

  /** The broker journaled changes. */
  onBroker(changes: readonly BrokerChange[]): void {
    for (const change of changes) {
      if (change.kind === 'LeaseGranted') this.#onGranted(change);
      if (change.kind === 'ReplicasDispatched') this.#onPlaced(change);
    }
  }

  #onGranted({ providerId, parts }: BrokerChangeOf<'LeaseGranted'>): void {
    const tasks = new Set<string>();
    for (const { jobId, firstReplicaId, taskRanges } of parts) {
      const indexes = taskRanges
        .flatMap(({ first, count }) => Array.from({ length: count }, (_, offset) => first + offset))
        .toReversed();
      indexes.forEach((taskIndex, offset) => {
        const [replicaId, task] = [firstReplicaId + offset, `${jobId}.${taskIndex}`];
        invariant(!this.#leased.has(replicaId), `r${replicaId} is leased twice`);
        this.#leased.set(replicaId, `${providerId} ${task}`);
        tasks.add(task);
      });
    }
    this.#tasks.set(providerId, tasks);
    for (const [other, theirs] of this.#tasks) {
      const shared = other === providerId ? undefined : [...tasks].find((task) => theirs.has(task));
      invariant(shared === undefined, `task ${shared ?? ''} is leased to ${providerId} and to ${other}`);
    }
  }

  /** Adopted replicas were leased, and newly placed ones were not. */
  #onPlaced({ machineId, jobId, firstReplicaId, taskIndexes, isAdopted }: BrokerChangeOf<'ReplicasDispatched'>): void {
    taskIndexes.forEach((taskIndex, offset) => {
      const leased = this.#leased.get(firstReplicaId + offset);
      const expected =
        isAdopted === true ? `${machineId.slice(0, machineId.indexOf('/'))} ${jobId}.${taskIndex}` : undefined;
      invariant(
        leased === expected,
        `r${firstReplicaId + offset} is placed on ${machineId} for ${jobId}.${taskIndex}, and was leased as ` +
          `${leased ?? 'nothing'}`,
      );
    });
  }

  /** A provider journaled changes. */
  onProvider(changes: readonly ProviderChange[]): void {
    const isReplaced = changes.some(({ kind }) => kind === 'BrokerReplaced');
    for (const change of changes) {
      if (change.kind === 'ReportSpooled') this.#onKept(change);
      if (change.kind === 'ReportsForgotten') this.#onForgotten(change, isReplaced);
    }
  }

  #onKept({ facts, sequence, endedReplicaIds }: ChangeOf<'ReportSpooled'>): void {
    const key = keptKey(facts);
    let reports = this.#kept.get(key);
    if (reports === undefined) this.#kept.set(key, (reports = new Map()));
    reports.set(sequence, endedReplicaIds);
  }

  /** @param isReplaced whether they were kept for a broker whose journal is gone. */
  #onForgotten({ machineId, incarnation, upTo }: ChangeOf<'ReportsForgotten'>, isReplaced: boolean): void {
    const reports = this.#kept.get(keptKey({ machineId, incarnation }));
    for (const [sequence, endedReplicaIds] of reports ?? []) {
      if (sequence > upTo) continue;
      const unanswered = isReplaced ? undefined : endedReplicaIds.find((replicaId) => !this.#received.has(replicaId));
      invariant(
        unanswered === undefined,
        `the end of r${unanswered ?? 0} on ${machineId} is forgotten, and was not reported to the broker`,
      );
      reports?.delete(sequence);
    }
  }
}
