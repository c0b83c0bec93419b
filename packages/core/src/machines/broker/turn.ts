import type { Fault } from '../../reasons/index.ts';
import type { Instant, ReplicaId, Reply } from '../../shared/index.ts';
import { apply } from './apply.ts';
import type { BrokerChange } from './changes.ts';
import type { BrokerCommand } from './commands.ts';
import {
  hasEnded,
  type BrokerJob,
  type BrokerMachine,
  type BrokerProvider,
  type BrokerReplica,
  type BrokerState,
  type TaskQueue,
} from './state.ts';

/** One step in the making: what its parts share and add to. */
export interface Turn {
  readonly state: BrokerState;
  readonly now: Instant;
  readonly changes: BrokerChange[];
  readonly commands: BrokerCommand[];
  /** Replicas to cancel, gathered so that each machine gets one command. */
  readonly cancels: Map<BrokerMachine, ReplicaId[]>;
  /** Likewise, those to cancel only if they have not started. */
  readonly withdrawals: Map<BrokerMachine, ReplicaId[]>;
  /**
   * Of queues whose tasks keep away from a machine: whether another may have enough time left. Filled while replicas
   * are placed.
   */
  readonly longerMayCome: Map<TaskQueue, boolean>;
  /** Jobs with too many tasks that wait for votes to begin a new task. */
  readonly crowded: Set<BrokerJob>;
  /** Providers must learn at once if the inputs of this turn change the demand for them. */
  mayChangeDemand: boolean;
  /**
   * Of providers with allocations: whether these are held even without speculative replicas. Filled while tasks are
   * replicated.
   */
  readonly heldAnyway: Map<BrokerProvider, boolean>;
  /** When the next decision is due without any input; Infinity when none is. */
  wakeAt: Instant;
}

/** A step that has decided nothing yet. */
export function beginTurn(state: BrokerState, now: Instant): Turn {
  return {
    state,
    now,
    changes: [],
    commands: [],
    cancels: new Map(),
    withdrawals: new Map(),
    longerMayCome: new Map(),
    crowded: new Set(),
    heldAnyway: new Map(),
    mayChangeDemand: false,
    wakeAt: Infinity,
  };
}

/** Makes a change: it is applied, and journaled before any command of the step is performed. */
export function commit(turn: Turn, change: BrokerChange): void {
  apply(turn.state, change);
  turn.changes.push(change);
}

/** Answers the caller of an input. */
export function reply(turn: Turn, replyTo: number, answer: Reply): void {
  turn.commands.push({ kind: 'Reply', replyTo, reply: answer });
}

/** Answers that a thing is not there, or not the caller's: callers cannot distinguish the two. */
export function replyNotFound(turn: Turn, replyTo: number, fault: Fault): void {
  reply(turn, replyTo, { ok: false, code: 'MUT_NOT_FOUND', fault });
}

/** Has a replica ended by its machine, whether it runs or waits. */
export function cancelReplica(turn: Turn, replica: BrokerReplica): void {
  addCancel(turn, replica.machine, replica.replicaId);
}

/** Has a machine drop a replica, known or not. */
export function addCancel(turn: Turn, machine: BrokerMachine, replicaId: ReplicaId): void {
  addTo(turn.cancels, machine, replicaId);
}

/** Asks a replica back, should it not have started. */
export function withdrawReplica(turn: Turn, replica: BrokerReplica): void {
  replica.isWithdrawing = true;
  addTo(turn.withdrawals, replica.machine, replica.replicaId);
}

function addTo(gathered: Map<BrokerMachine, ReplicaId[]>, machine: BrokerMachine, replicaId: ReplicaId): void {
  const ids = gathered.get(machine);
  if (ids === undefined) gathered.set(machine, [replicaId]);
  else ids.push(replicaId);
}

/** Turns gathered cancels into commands. An unreachable machine gets its cancels when it joins again. */
export function flushCancels(turn: Turn): void {
  flush(turn, turn.cancels, false);
  flush(turn, turn.withdrawals, true);
}

function flush(turn: Turn, gathered: Map<BrokerMachine, ReplicaId[]>, onlyWaiting: boolean): void {
  for (const [machine, replicaIds] of gathered) {
    if (!machine.isAnnounced) continue;
    const {
      provider: { providerId },
      facts: { machineId },
    } = machine;
    turn.commands.push({ kind: 'CancelReplicas', providerId, machineId, replicaIds, onlyWaiting });
    for (const replicaId of replicaIds) awaitEnd(turn, replicaId);
  }
  gathered.clear();
}

/** A machine that gets the order once more has its time from then on. */
function awaitEnd(turn: Turn, replicaId: ReplicaId): void {
  const { state, now } = turn;
  const replica = state.replicas.get(replicaId);
  if (replica === undefined || hasEnded(replica.task)) return;
  const due = now + state.options.cancelGrace;
  state.awaitedEnds.delete(replicaId);
  state.awaitedEnds.set(replicaId, due);
  wakeBy(turn, due);
}

/** Makes the step run again at `at` at the latest. */
export function wakeBy(turn: Turn, at: Instant): void {
  if (at < turn.wakeAt) turn.wakeAt = at;
}
