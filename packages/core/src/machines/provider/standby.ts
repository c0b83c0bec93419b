import { noteHealth, quarantineDefaults } from '../../bag/index.ts';
import { getIdentity, type LeaseOutline, type LeaseOutlineGroup } from '../../messages/index.ts';
import { keyOfRequest } from '../../resources/index.ts';
import type { MachineId } from '../../shared/index.ts';
import { takesNoWork } from './draining.ts';
import type { ProviderInput } from './inputs.ts';
import {
  chooseLeased,
  findFreeResources,
  isLeased,
  keptKey,
  listProcessors,
  type SpooledLease,
  type EnrolledMachine,
} from './spooled-lease.ts';
import { isStandby, leaseEnd, leftOfLease, roomForReports } from './leases.ts';
import { askToReturn, reportLost } from './machines.ts';
import type { BrokerId, KnownBroker, ProvidedMachine, ProviderState } from './state.ts';
import { commit, type Turn } from './turn.ts';

type GetInput<Kind extends ProviderInput['kind']> = Extract<ProviderInput, { readonly kind: Kind }>;

/**
 * Replicas that a machine gets for each of its processors while its broker is away: one runs, the other need not be
 * waited for.
 */
const replicasPerProcessor = 2;

/**
 * Stores a broker's lease in place of the one before; a repeated lease is confirmed again.
 *
 * A repeated lease may lack some of its replicas: a job was cancelled, or an input is gone. The driver has the new
 * body, so the outline must be the new one, too.
 */
export function takeLease(turn: Turn, { brokerId, connectionId, lease }: GetInput<'LeaseGranted'>): void {
  const broker = turn.state.brokers.get(brokerId);
  if (broker === undefined || broker.connectionId !== connectionId) return;
  const known = broker.lease?.outline;
  // A late message, after the lease that replaced it.
  if (broker.leaseConnectionId === connectionId && known !== undefined && lease.sequence < known.sequence) return;
  broker.leaseConnectionId = connectionId;
  if (known === undefined || !isSameOutline(known, lease))
    commit(turn, { kind: 'LeaseTaken', brokerId, lease: withoutMore(lease), at: turn.now });
  broker.isLeaseConfirmed = false;
}

/** Takes out of a broker's lease what it placed since, here or elsewhere. */
export function revokeLease(turn: Turn, { brokerId, connectionId, replicaIds }: GetInput<'LeaseRevoked'>): void {
  const broker = turn.state.brokers.get(brokerId);
  if (broker === undefined || broker.connectionId !== connectionId || broker.leaseConnectionId !== connectionId) return;
  const { lease } = broker;
  const trimmed = lease === undefined ? [] : replicaIds.filter((replicaId) => isLeased(lease, replicaId));
  if (trimmed.length > 0) commit(turn, { kind: 'LeaseRevoked', brokerId, replicaIds: trimmed });
}

/** The outline alone, whatever else the driver's object has. */
function withoutMore({ sequence, horizon, groups, quarantined }: LeaseOutline): LeaseOutline {
  return { sequence, horizon, groups, ...(quarantined === undefined ? {} : { quarantined }) };
}

function isSameOutline(one: LeaseOutline, other: LeaseOutline): boolean {
  return (
    one.sequence === other.sequence &&
    one.horizon === other.horizon &&
    isSameList(one.quarantined, other.quarantined) &&
    one.groups.length === other.groups.length &&
    one.groups.every((group, index) => isSameGroup(group, other.groups[index]))
  );
}

function isSameGroup(one: LeaseOutlineGroup, other: LeaseOutlineGroup | undefined): boolean {
  return (
    one.processors === other?.processors &&
    keyOfRequest(one.resources) === keyOfRequest(other.resources) &&
    one.requirements === other.requirements &&
    one.taskTime === other.taskTime &&
    one.hasInputs === other.hasInputs &&
    one.replicas.length === other.replicas.length &&
    one.replicas.every(
      ({ first, count }, index) => first === other.replicas[index]?.first && count === other.replicas[index].count,
    )
  );
}

function isSameList(one: readonly string[] = [], other: readonly string[] = []): boolean {
  return one.length === other.length && one.every((entry, index) => entry === other[index]);
}

/** Notes that the inputs of leased replicas are here. */
export function markInputsStaged({ state }: Turn, { brokerId, sequence, replicaIds }: GetInput<'InputsStaged'>): void {
  const lease = state.brokers.get(brokerId)?.lease;
  if (lease?.outline.sequence !== sequence) return;
  for (const replicaId of replicaIds) lease.stocked.add(replicaId);
}

/** Takes the place of brokers that have been away for a while, as far as they leased it. */
export function beginStandbys(turn: Turn): void {
  const { state, now } = turn;
  for (const broker of state.brokers.values()) {
    if (!mayBeStandby(broker) || isStandby(broker) || now < standbyDue(state, broker)) continue;
    commit(turn, { kind: 'StandbyBegan', brokerId: broker.brokerId, at: now });
  }
}

/** Whether the provider may go on alone when the broker stays away. */
export function mayBeStandby({ connectionId, lease }: KnownBroker): boolean {
  return connectionId === 0 && lease !== undefined && lease.outline.horizon > 0;
}

/** When the provider takes the place of a broker that is away. */
export function standbyDue({ config }: ProviderState, { awaySince }: KnownBroker): number {
  return awaySince + config.standbyAfter;
}

/** Gives up a broker's place to itself. */
export function endStandby(turn: Turn, broker: KnownBroker): void {
  if (isStandby(broker)) commit(turn, { kind: 'StandbyEnded', brokerId: broker.brokerId, at: turn.now });
}

/** As standby: has machines present themselves, keeps their reports, and gives those that run dry leased replicas. */
export function actAsStandby(turn: Turn): void {
  const { state } = turn;
  for (const machine of state.machines.values()) {
    const broker = state.brokers.get(machine.brokerId);
    if (broker === undefined || !isStandby(broker) || machine.attachmentId === 0 || machine.isReturning) continue;
    if (machine.reportedConnectionId !== 0) {
      askToReturn(turn, machine);
      continue;
    }
    keepReportsOf(turn, machine);
    startLeased(turn, broker, machine);
  }
}

function keepReportsOf({ commands }: Turn, machine: ProvidedMachine): void {
  if (machine.isKeeping) return;
  machine.isKeeping = true;
  commands.push({ kind: 'KeepReports', machineId: machine.facts.machineId, attachmentId: machine.attachmentId });
}

function startLeased(turn: Turn, broker: KnownBroker, machine: ProvidedMachine): void {
  const { state, now } = turn;
  const { lease } = broker;
  const {
    facts: { machineId, processors },
    attachmentId,
  } = machine;
  if (lease === undefined || takesNoWork(state) || now >= leaseEnd(broker)) return;
  // Once all has started, machines without work are not worth a search.
  if (leftOfLease(broker) === 0 || !isUsable(turn, lease, machine)) return;
  const held = [...machine.held].reduce((sum, replicaId) => sum + listProcessors(lease, replicaId), 0);
  // A machine that broke replicas gets no queue until it has ended one well.
  const room = (machine.breakages > 0 ? 1 : replicasPerProcessor) * processors - held;
  if (room <= 0) return;
  const replicaIds = chooseLeased(lease, machine.facts, {
    processors: room,
    resources: findFreeResources(lease, machine.facts, machine.held),
    now,
  });
  if (replicaIds.length === 0) return;
  const { sequence } = lease.outline;
  commit(turn, { kind: 'LeaseStarted', brokerId: broker.brokerId, machineId, replicaIds });
  for (const replicaId of replicaIds) machine.held.add(replicaId);
  turn.commands.push({ kind: 'StartLeased', brokerId: broker.brokerId, sequence, machineId, attachmentId, replicaIds });
}

/** Whether a machine may get anything of a lease now. */
function isUsable(
  { now }: Turn,
  { outline: { quarantined = [] } }: SpooledLease,
  { facts, quarantinedUntil }: ProvidedMachine,
): boolean {
  return facts.reservation === undefined && quarantinedUntil <= now && !quarantined.includes(getIdentity(facts));
}

/**
 * Spools a report and acknowledges it to its agent, if there is room. A report that came while the broker returned is
 * passed on directly.
 */
export function keepReport(turn: Turn, input: GetInput<'ReportMade'>): void {
  const { state } = turn;
  const machine = state.machines.get(input.machineId);
  if (machine?.attachmentId !== input.attachmentId || !machine.isKeeping || machine.isFull) return;
  if (!isKept(state, machine, input.sequence)) commitReport(turn, machine, input);
  if (machine.isFull) return;
  for (const replicaId of input.endedReplicaIds) machine.held.delete(replicaId);
  turn.commands.push({
    kind: 'AcknowledgeSpooled',
    machineId: input.machineId,
    attachmentId: machine.attachmentId,
    sequence: input.sequence,
  });
}

/** Whether it is spooled already, but the agent did not receive the acknowledgement. */
function isKept({ kept }: ProviderState, { facts }: ProvidedMachine, sequence: number): boolean {
  return sequence <= (kept.get(keptKey(facts))?.reports.at(-1)?.sequence ?? 0);
}

function commitReport(
  turn: Turn,
  machine: ProvidedMachine,
  { sequence, endedReplicaIds, bytes, health }: GetInput<'ReportMade'>,
): void {
  const { facts, brokerId } = machine;
  machine.isFull = bytes > roomForReports(turn.state);
  if (machine.isFull) return;
  commit(turn, { kind: 'ReportSpooled', brokerId, facts, sequence, endedReplicaIds, bytes, at: turn.now });
  noteHealth(machine, health, { rules: quarantineDefaults, now: turn.now });
}

/**
 * Notes that a machine did not get leased replicas, so that it gets others. They are not given out again: their broker
 * still has them.
 */
export function returnToQueue(
  { state }: Turn,
  { machineId, attachmentId, replicaIds }: GetInput<'LeasedUnstartable'>,
): void {
  const machine = state.machines.get(machineId);
  if (machine?.attachmentId !== attachmentId) return;
  for (const replicaId of replicaIds) machine.held.delete(replicaId);
}

/** Forgets reports that their broker has; a machine that is gone and has delivered all its reports is lost to it. */
export function forgetReports(turn: Turn, { brokerId, machineId, sequence }: GetInput<'SpooledAcknowledged'>): void {
  const { state } = turn;
  const broker = state.brokers.get(brokerId);
  // If an agent had several runs, their machines are reported one after the other.
  const kept = [...state.kept.values()].find((one) => one.brokerId === brokerId && one.facts.machineId === machineId);
  // An acknowledgement before this run was reported belongs to the run before, and is a repetition.
  if (
    kept === undefined ||
    broker === undefined ||
    !isAnnounced(state, broker, kept) ||
    (kept.reports[0]?.sequence ?? Infinity) > sequence
  )
    return;
  const {
    facts: { incarnation },
  } = kept;
  commit(turn, { kind: 'ReportsForgotten', machineId, incarnation, upTo: sequence });
  makeRoom(turn);
  if (kept.reports.length === 0 && !isHere(state, kept.facts, brokerId))
    reportLost(turn, broker, machineId, 'MUT_MACHINE_LOST');
}

/**
 * Whether it was reported on the present connection, with its machine or as gone; while no broker is connected, whether
 * it was not reported since.
 */
function isAnnounced(
  { machines }: ProviderState,
  { connectionId }: KnownBroker,
  { facts, reportedConnectionId }: EnrolledMachine,
): boolean {
  const machine = machines.get(facts.machineId);
  return (
    reportedConnectionId === connectionId ||
    (machine?.facts.incarnation === facts.incarnation && machine.reportedConnectionId === connectionId)
  );
}

/** There is room again for what found none. */
export function makeRoom({ state, commands }: Turn): void {
  for (const machine of state.machines.values()) {
    if (!machine.isFull || !machine.isKeeping) continue;
    machine.isFull = false;
    commands.push({ kind: 'KeepReports', machineId: machine.facts.machineId, attachmentId: machine.attachmentId });
  }
}

/** Reports to a returned broker the machines that are gone and still have reports for it. */
export function reportGone(turn: Turn, broker: KnownBroker): void {
  const { state } = turn;
  const reported = new Set<MachineId>();
  for (const kept of state.kept.values()) {
    const { facts, brokerId, reports } = kept;
    if (brokerId !== broker.brokerId || reported.has(facts.machineId)) continue;
    reported.add(facts.machineId);
    if (isHere(state, facts, brokerId) || kept.reportedConnectionId === broker.connectionId) continue;
    kept.reportedConnectionId = broker.connectionId;
    turn.commands.push({
      kind: 'ReportMachineJoined',
      brokerId,
      facts,
      heldReplicaIds: reports.flatMap(({ endedReplicaIds }) => endedReplicaIds),
      keptSequences: reports.map(({ sequence }) => sequence),
      isGone: true,
    });
  }
}

function isHere(
  { machines }: ProviderState,
  { machineId, incarnation }: { readonly machineId: MachineId; readonly incarnation: string },
  brokerId: BrokerId,
): boolean {
  const machine = machines.get(machineId);
  return machine !== undefined && machine.facts.incarnation === incarnation && machine.brokerId === brokerId;
}

/** Confirms the lease once every machine that may hold replicas of an earlier one has been reported. */
export function confirmLeases({ state, commands }: Turn): void {
  for (const broker of state.brokers.values()) {
    if (
      broker.connectionId === 0 ||
      !broker.isSynced ||
      broker.isLeaseConfirmed ||
      broker.leaseConnectionId !== broker.connectionId
    )
      continue;
    const { lease, brokerId, connectionId } = broker;
    if (lease === undefined || isAwaited(state, brokerId, connectionId)) continue;
    broker.isLeaseConfirmed = true;
    commands.push({ kind: 'ConfirmLease', brokerId, sequence: lease.outline.sequence });
  }
}

function isAwaited(state: ProviderState, brokerId: BrokerId, connectionId: number): boolean {
  for (const machine of state.machines.values())
    if (machine.brokerId === brokerId && machine.reportedConnectionId !== connectionId) return true;
  for (const kept of state.kept.values()) {
    if (
      kept.brokerId === brokerId &&
      !isHere(state, kept.facts, brokerId) &&
      kept.reportedConnectionId !== connectionId
    )
      return true;
  }
  return false;
}
