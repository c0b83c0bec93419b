import type { Instant, ProcessorCount, ProcessorMillis, ProviderId, RequestId } from '../../../shared/index.ts';
import type { ReplicaEnding, ReplicaDisposition } from '../changes.ts';
import type { BrokerJob, BrokerMachine, BrokerReplica, BrokerState, LedgerAccount, LedgerShare } from '../state.ts';

/** The name of an allocation request among those of all providers. */
export function requestKey(providerId: ProviderId, requestId: RequestId): string {
  return `${providerId}/${requestId}`;
}

/**
 * The account of an allocation, or of the provider's time-shared machines where `requestId` is empty; opened when it is
 * new.
 */
export function openAccount(state: BrokerState, providerId: ProviderId, requestId: RequestId): LedgerAccount {
  const key = requestKey(providerId, requestId);
  const known = state.accounts.get(key);
  if (known !== undefined) return known;
  const account = { key, providerId, requestId, used: 0, losers: 0, killed: 0, departed: 0, unsettled: 0 };
  state.accounts.set(key, account);
  return account;
}

/** Processor-time that a machine has been there for at `at`; its allocation's end bounds it. */
export function getPresence(machine: BrokerMachine, at: Instant): ProcessorMillis {
  const until = Math.min(at, machine.facts.until ?? at);
  return Math.max(0, until - machine.joinedAt) * machine.processors;
}

/**
 * Processor-time that a machine has been held for at `at`: no less than its replicas were charged, also where a
 * restarted broker's clock went back.
 */
export function getHeldTime(machine: BrokerMachine, at: Instant): ProcessorMillis {
  return Math.max(getPresence(machine, at), machine.charged);
}

/** When a replica ran, by its machine's clock, and when the broker placed it and learnt of its end, by its own. */
export interface RunTimes {
  readonly startedAt: Instant;
  readonly endedAt: Instant;
  readonly dispatchedAt: Instant;
  readonly at: Instant;
}

/**
 * The processor-time that a replica is charged with.
 *
 * Clocks differ: its length by its machine's clock is clipped to the time between its dispatch and the report of its
 * end, and to what its machine's presence leaves. So what the replicas of a machine are charged never exceeds the
 * machine's presence.
 */
export function getCharge(machine: BrokerMachine, processors: ProcessorCount, times: RunTimes): ProcessorMillis {
  if (times.startedAt === 0) return 0;
  const reported = Math.max(0, times.endedAt - times.startedAt);
  const received = Math.max(0, times.at - times.dispatchedAt);
  const left = Math.max(0, getPresence(machine, times.at) - machine.charged);
  return Math.min(Math.min(reported, received) * processors, left);
}

/** Books a charge as what the replica's disposition makes of it, for its account and for its job's share. */
export function book(
  account: LedgerAccount,
  job: BrokerJob,
  disposition: ReplicaDisposition,
  charge: ProcessorMillis,
): void {
  if (charge === 0) return;
  const column = getColumn(disposition);
  account[column] += charge;
  let share = job.shares.get(account);
  if (share === undefined) job.shares.set(account, (share = { used: 0, losers: 0, killed: 0 }));
  share[column] += charge;
}

function getColumn(disposition: ReplicaDisposition): keyof LedgerShare {
  if (disposition === 'accepted' || disposition === 'served') return 'used';
  return disposition === 'surplus' || disposition === 'outvoted' ? 'losers' : 'killed';
}

/**
 * The run times of an ended replica; an adopted one ran before it was placed here. A member of a gang holds its
 * processors from when it was ready, though they may idle: the leader until it starts, the others until they are ended.
 */
export function getRunTimes({ isAdopted, member }: BrokerReplica, ending: ReplicaEnding, at: Instant): RunTimes {
  if (member?.held !== undefined && (member.rank > 0 || ending.startedAt === 0))
    return { startedAt: member.held.at, endedAt: at, dispatchedAt: ending.dispatchedAt, at };
  return {
    startedAt: ending.startedAt,
    endedAt: ending.endedAt,
    dispatchedAt: isAdopted ? 0 : ending.dispatchedAt,
    at,
  };
}
