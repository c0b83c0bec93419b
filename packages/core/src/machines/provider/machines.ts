import { type MachineFacts, nameReservation } from '../../messages/index.ts';
import type { Instant, MachineId, ReplicaId, RequestId } from '../../shared/index.ts';
import { hasKept, mustWait, noteHeld, returnLeased } from './former-runs.ts';
import { keptKey } from './spooled-lease.ts';
import { isStandby } from './leases.ts';
import {
  isServing,
  type BrokerId,
  type KnownBroker,
  type OwnRequest,
  type ProvidedMachine,
  type ProviderState,
} from './state.ts';
import { commit, type Turn } from './turn.ts';

/** An agent that leaves so shortly before the end of its allocation leaves because of it. */
const walltimeSlack = 1_000;

/** An agent's stream that opened. */
export interface Attachment {
  readonly attachmentId: number;
  readonly facts: MachineFacts;
  readonly heldReplicaIds: readonly ReplicaId[];
}

/** Takes an agent in, new or back, or sends it away when its request is over. */
export function attachAgent(turn: Turn, { attachmentId, facts, heldReplicaIds }: Attachment): void {
  const { state } = turn;
  if (facts.requestId !== '' && !takeRequestAgent(turn, facts.requestId)) {
    turn.commands.push({
      kind: 'RefuseAgent',
      attachmentId,
      code: 'MUT_ALLOCATION_ENDED',
      requestId: facts.requestId,
    });
    return;
  }
  joinMachine(turn, facts);
  const machine = state.machines.get(facts.machineId);
  if (machine === undefined) return;
  machine.attachmentId = attachmentId;
  machine.awaySince = 0;
  machine.held = new Set(heldReplicaIds);
  // What it holds from before may have run since; that it does not hold anything is known.
  if (heldReplicaIds.length === 0) machine.busySince = [];
  else if (machine.busySince.length === 0) machine.busySince = [turn.now];
  machine.reportedConnectionId = 0;
  machine.isReturning = false;
  machine.isKeeping = false;
  machine.isFull = false;
  noteHeld(turn, machine);
}

/**
 * Whether agents of the request are welcome; one that runs proves that its allocation does, before any listing shows
 * it.
 */
function takeRequestAgent(turn: Turn, requestId: RequestId): boolean {
  const request = turn.state.requests.get(requestId);
  if (request === undefined || !isServing(request)) return false;
  if (request.status !== 'running') noteStart(turn, request);
  return true;
}

function joinMachine(turn: Turn, facts: MachineFacts): void {
  const { state, now } = turn;
  const known = state.machines.get(facts.machineId);
  if (known?.facts.incarnation === facts.incarnation) return;
  const request = state.requests.get(facts.requestId);
  commit(turn, {
    kind: 'MachineJoined',
    facts: withUntil(withinWidth(facts, request), request),
    brokerId: request?.brokerId ?? known?.brokerId ?? '',
    at: now,
  });
  if (known === undefined) return;
  // A restarted agent is another one, and what made the former one break its replicas may be over.
  known.breakages = 0;
  known.quarantinedUntil = 0;
}

function noteStart(turn: Turn, request: OwnRequest): void {
  const { requestId } = request;
  if (request.status === 'submitting') {
    commit(turn, { kind: 'RequestQueued', requestId, managerRequestId: request.managerRequestId, at: turn.now });
  }
  commit(turn, { kind: 'RequestStarted', requestId, startedAt: turn.now, at: turn.now });
}

/** Of an allocation no machine has more processors than all of it, whatever it claims. */
function withinWidth(facts: MachineFacts, request: OwnRequest | undefined): MachineFacts {
  return request === undefined || facts.processors <= request.width ? facts : { ...facts, processors: request.width };
}

function withUntil(facts: MachineFacts, request: OwnRequest | undefined): MachineFacts {
  if (request === undefined) return facts;
  const { reservation, startedAt, walltime } = request;
  if (reservation === undefined) return { ...facts, until: startedAt + walltime };
  return {
    ...facts,
    until: Math.min(startedAt + walltime, reservation.endsAt),
    reservation: nameReservation(reservation),
  };
}

/** Notes that an agent went away; its machine is lost at once when it said so, else when its grace is over. */
export function detachAgent(turn: Turn, machineId: MachineId, attachmentId: number, hasLeft: boolean): void {
  const machine = turn.state.machines.get(machineId);
  if (machine === undefined || machine.attachmentId !== attachmentId) return; // A stream that another one has replaced.
  machine.attachmentId = 0;
  machine.awaySince = turn.now;
  machine.isReturning = false;
  machine.isKeeping = false;
  if (hasLeft) loseMachine(turn, machine, isAtItsEnd(turn, machine) ? 'MUT_WALLTIME_ENDED' : 'MUT_MACHINE_LEFT');
}

/** Managers end allocations a little early or late, and agents leave before any listing shows why. */
function isAtItsEnd({ state, now }: Turn, { facts }: ProvidedMachine): boolean {
  const request = state.requests.get(facts.requestId);
  return request !== undefined && now >= request.startedAt + request.walltime - walltimeSlack;
}

/** When a machine whose agent is away is given up. */
export function graceEnd({ config, startedAt }: ProviderState, { awaySince }: ProvidedMachine): Instant {
  return awaySince + (awaySince === startedAt ? config.restartGrace : config.agentGrace);
}

/** Notes on which machines tasks run, and since when. */
export function seeTasks({ state, now }: Turn, seen: readonly (readonly [MachineId, ...(readonly Instant[])])[]): void {
  for (const [machineId, ...since] of seen) {
    const machine = state.machines.get(machineId);
    if (machine !== undefined) machine.busySince = since.filter((at) => at > 0).map((at) => Math.min(at, now));
  }
}

/** Gives up the machines whose agents have been away for longer than their grace. */
export function loseAbsentMachines(turn: Turn): void {
  const { state, now } = turn;
  for (const machine of [...state.machines.values()]) {
    if (machine.attachmentId === 0 && now >= graceEnd(state, machine)) loseMachine(turn, machine, 'MUT_MACHINE_LOST');
  }
}

/**
 * Gives up all machines of a request that is over, and closes the streams of their agents. @param code why, for its
 * broker. @param refusal why, for the agents; one that they take for the end.
 */
export function getLoseMachines(
  turn: Turn,
  request: OwnRequest,
  code: string,
  refusal = code === 'MUT_MACHINE_LOST' ? 'MUT_ALLOCATION_ENDED' : code,
): void {
  for (const machine of [...turn.state.machines.values()]) {
    if (machine.facts.requestId !== request.requestId) continue;
    loseMachine(turn, machine, code);
    if (machine.attachmentId === 0) continue;
    turn.commands.push({
      kind: 'RefuseAgent',
      attachmentId: machine.attachmentId,
      code: refusal,
      requestId: request.requestId,
    });
  }
}

function loseMachine(turn: Turn, machine: ProvidedMachine, reason: string): void {
  const { machineId } = machine.facts;
  const broker = turn.state.brokers.get(machine.brokerId);
  returnLeased(turn, machine);
  commit(turn, { kind: 'MachineLost', machineId, reason, at: turn.now });
  // Its reports from the time when the broker was away are still on their way, and would be void if the broker learnt
  // of the loss first.
  if (hasKept(turn.state, machine)) noteReported(turn.state, machine);
  else reportLost(turn, broker, machineId, reason);
}

/** Counts the spooled reports of a lost machine as announced if the machine was. */
function noteReported({ kept }: ProviderState, { facts, reportedConnectionId }: ProvidedMachine): void {
  const own = kept.get(keptKey(facts));
  if (own !== undefined && reportedConnectionId !== 0) own.reportedConnectionId = reportedConnectionId;
}

/** Reports to a broker, if it is connected, that a machine is gone. */
export function reportLost(turn: Turn, broker: KnownBroker | undefined, machineId: MachineId, reason: string): void {
  if (broker === undefined || broker.connectionId === 0) return;
  turn.commands.push({ kind: 'ReportMachineLost', brokerId: broker.brokerId, machineId, reason });
}

/**
 * Reports a machine to the broker that it belongs to now.
 *
 * Replica ids are a broker's own, so a machine goes to another broker only when its agent has just attached and holds
 * nothing. An agent that was announced on an earlier connection attaches again, because the reports that went there may
 * be lost.
 */
export function offerMachine(turn: Turn, machine: ProvidedMachine): void {
  const { state } = turn;
  if (machine.attachmentId === 0 || machine.isReturning || !isCleared(turn, machine)) return;
  const brokerId = chooseBroker(state, machine);
  if (brokerId !== machine.brokerId) {
    moveMachine(turn, machine, brokerId);
    return;
  }
  const broker = state.brokers.get(brokerId);
  if (
    broker === undefined ||
    broker.connectionId === 0 ||
    machine.reportedConnectionId === broker.connectionId ||
    mustWait(state, machine, brokerId)
  )
    return;
  if (machine.reportedConnectionId === 0) reportJoined(turn, broker, machine);
  else askToReturn(turn, machine);
}

function reportJoined(turn: Turn, broker: KnownBroker, machine: ProvidedMachine): void {
  const { facts, held } = machine;
  const { brokerId } = broker;
  const kept = turn.state.kept.get(keptKey(facts));
  const reports = kept?.brokerId === brokerId ? kept.reports : [];
  machine.reportedConnectionId = broker.connectionId;
  machine.isKeeping = false;
  const heldReplicaIds = [...new Set([...reports.flatMap(({ endedReplicaIds }) => endedReplicaIds), ...held])];
  turn.commands.push({
    kind: 'ReportMachineJoined',
    brokerId,
    facts,
    heldReplicaIds,
    ...(reports.length === 0 ? {} : { keptSequences: reports.map(({ sequence }) => sequence) }),
  });
}

/** Has an agent present itself again. */
export function askToReturn(turn: Turn, machine: ProvidedMachine): void {
  const {
    attachmentId,
    facts: { machineId },
  } = machine;
  machine.isReturning = true;
  turn.commands.push({ kind: 'ReattachAgent', machineId, attachmentId });
}

/** Has an agent end what it holds of a former journal of its broker; true when nothing is left of that. */
function isCleared(turn: Turn, machine: ProvidedMachine): boolean {
  if (!machine.isForeign) return true;
  if (machine.reportedConnectionId !== 0) {
    // What it holds now is known when it presents itself again.
    askToReturn(turn, machine);
    return false;
  }
  if (machine.held.size > 0) {
    clearAgent(turn, machine);
    return false;
  }
  commit(turn, { kind: 'MachineCleared', machineId: machine.facts.machineId, at: turn.now });
  return true;
}

/** Makes an agent end all that it holds, without a report to a broker. */
function clearAgent(turn: Turn, machine: ProvidedMachine): void {
  const {
    attachmentId,
    held,
    facts: { machineId },
  } = machine;
  machine.isReturning = true;
  machine.isKeeping = false;
  turn.commands.push({ kind: 'ClearAgent', machineId, attachmentId, heldReplicaIds: [...held] });
}

function moveMachine(turn: Turn, machine: ProvidedMachine, brokerId: BrokerId): void {
  const { state } = turn;
  const {
    held,
    facts: { machineId },
  } = machine;
  if (machine.reportedConnectionId !== 0) {
    // It moves once its broker has what was kept for it.
    if (hasKept(state, machine) && state.brokers.get(machine.brokerId)?.connectionId === machine.reportedConnectionId)
      return;
    reportLost(turn, state.brokers.get(machine.brokerId), machineId, 'MUT_MACHINE_MOVED');
    askToReturn(turn, machine);
  } else if (held.size > 0) {
    clearAgent(turn, machine);
  } else {
    commit(turn, { kind: 'MachineAssigned', machineId, brokerId, at: turn.now });
    const broker = state.brokers.get(brokerId);
    if (broker !== undefined && broker.connectionId !== 0 && !mustWait(state, machine, brokerId))
      reportJoined(turn, broker, machine);
  }
}

/**
 * Machines of a request are its broker's. A time-shared one goes to a broker in need; if there is none, to the first
 * connected broker, so that its user sees it before it is needed. If none is connected, it goes to one whose lease goes
 * on.
 */
function chooseBroker(state: ProviderState, machine: ProvidedMachine): BrokerId {
  if (machine.facts.requestId !== '') return machine.brokerId;
  const owner = state.brokers.get(machine.brokerId);
  if (owner !== undefined && isKept(owner, machine)) return machine.brokerId;
  const connected = [...state.brokers.values()].filter((broker) => broker.connectionId !== 0);
  return connected.find(isInNeed)?.brokerId ?? owner?.brokerId ?? firstOf(state, connected);
}

function firstOf({ brokers }: ProviderState, connected: readonly KnownBroker[]): BrokerId {
  const first = connected[0] ?? [...brokers.values()].find(isStandby);
  return first?.brokerId ?? '';
}

function isInNeed(broker: KnownBroker): boolean {
  return broker.connectionId !== 0 && (broker.demand?.pendingTasks ?? 0) > 0;
}

/** Whether a time-shared machine stays with its broker, even if others are in need. */
function isKept(owner: KnownBroker, machine: ProvidedMachine): boolean {
  if (isInNeed(owner)) return true;
  if (owner.connectionId === 0) return owner.idleSince === 0;
  return owner.demand === undefined && machine.held.size > 0;
}
