import type { AllocationRequest } from '../../../messages/index.ts';
import type { Instant, JobId, ProcessorMillis, ProviderId, RequestId } from '../../../shared/index.ts';
import { isFollower } from '../gangs/gang.ts';
import { getCharge, getHeldTime, requestKey } from './ledger-accounts.ts';
import type { BrokerMachine, BrokerReplica, BrokerState, LedgerAccount, LedgerShare } from '../state.ts';

/**
 * What became of the processor-time of one allocation, or of a provider's time-shared machines. held = used + losers +
 * killed + idle.
 */
export interface LedgerRow {
  readonly providerId: ProviderId;
  /** Empty for time-shared machines. */
  readonly requestId: RequestId;
  /** Width times walltime; 0 for time-shared machines. */
  readonly requested: ProcessorMillis;
  readonly held: ProcessorMillis;
  /** By replicas whose result was accepted, and so far by those that run or are being settled. */
  readonly used: ProcessorMillis;
  /** By replicas that a sibling beat. */
  readonly losers: ProcessorMillis;
  /** By replicas that failed or were lost, limited or cancelled. */
  readonly killed: ProcessorMillis;
  readonly idle: ProcessorMillis;
  /** Nothing is added any more. */
  readonly ended: boolean;
}

interface Sums extends LedgerShare {
  presence: ProcessorMillis;
  isPresent: boolean;
}

/**
 * The ledger of all that this broker has held, at `now`: one row per allocation and one per provider's time-shared
 * machines.
 *
 * @source costa2005, eq. 3.4: waste = sum of p x time held - useful time = losers + killed + idle.
 * Departs from the source: an allocation is held as long as its manager says or its machines are there, whichever is
 * more.
 */
export function findLedger(state: BrokerState, now: Instant): LedgerRow[] {
  const sums = new Map<LedgerAccount, Sums>();
  for (const account of state.accounts.values()) sums.set(account, openSums(account));
  for (const machine of state.machines.values())
    addMachine(sums.get(machine.account) ?? openSums(machine.account), machine, now);
  return [...sums].map(([account, sum]) => toRow(account, sum, heldByManager(state.requests.get(account.key), now)));
}

function openSums(account: LedgerAccount): Sums {
  const { used, unsettled, losers, killed, departed } = account;
  return { used: used + unsettled, losers, killed, presence: departed, isPresent: false };
}

/** Adds a machine's presence and its running replicas as of `now`. */
function addMachine(sums: Sums, machine: BrokerMachine, now: Instant): void {
  const presence = getHeldTime(machine, now);
  let left = presence - machine.charged;
  for (const replica of machine.replicas.values()) {
    const charge = Math.min(left, runningCharge(replica, now));
    sums[columnOfRunning(replica)] += charge;
    left -= charge;
  }
  sums.presence += presence;
  sums.isPresent = true;
}

function runningCharge(replica: BrokerReplica, now: Instant): ProcessorMillis {
  const { machine, processors, startedAt, dispatchedAt, member } = replica;
  return getCharge(machine, processors, {
    startedAt: member?.held?.at ?? startedAt,
    endedAt: now,
    dispatchedAt,
    at: now,
  });
}

function columnOfRunning(replica: BrokerReplica): keyof LedgerShare {
  if (replica.abortDisposition === 'cancelled' || replica.abortDisposition === 'retried') return 'killed';
  if (isFollower(replica)) return 'used';
  return replica.abortDisposition === 'surplus' || replica.task.replicas[0] !== replica ? 'losers' : 'used';
}

interface ManagedTime {
  readonly requested: ProcessorMillis;
  readonly held: ProcessorMillis;
  readonly ended: boolean;
}

function heldByManager(request: AllocationRequest | undefined, now: Instant): ManagedTime {
  if (request === undefined) return { requested: 0, held: 0, ended: false };
  const ended = request.status === 'ended' || request.status === 'rejected' || request.status === 'vanished';
  const end = request.endedAt === 0 ? (ended ? request.seenAt : now) : request.endedAt;
  const time = request.startedAt === 0 ? 0 : Math.min(request.walltime, Math.max(0, end - request.startedAt));
  return { requested: request.width * request.walltime, held: request.width * time, ended };
}

function toRow(account: LedgerAccount, sums: Sums, managed: ManagedTime): LedgerRow {
  const { used, losers, killed } = sums;
  const held = Math.max(managed.held, sums.presence);
  return {
    providerId: account.providerId,
    requestId: account.requestId,
    requested: managed.requested,
    held,
    used,
    losers,
    killed,
    idle: held - used - losers - killed,
    ended: managed.ended && !sums.isPresent,
  };
}

/**
 * What a job's replicas held of each account so far; undefined when it is not there. Requested and idle time belong to
 * no job: 0.
 */
export function findJobLedger(state: BrokerState, jobId: JobId, now: Instant): LedgerRow[] | undefined {
  const job = state.jobs.get(jobId);
  if (job === undefined) return undefined;
  const shares = new Map<LedgerAccount, LedgerShare>();
  for (const [account, share] of job.shares) shares.set(account, { ...share });
  for (const success of state.successes.values()) {
    if (success.job === job) addTo(shares, success.account, { column: 'used', charge: success.charge });
  }
  for (const machine of state.machines.values()) {
    let left = getHeldTime(machine, now) - machine.charged;
    for (const replica of machine.replicas.values()) {
      const charge = Math.min(left, runningCharge(replica, now));
      left -= charge;
      if (replica.job === job) addTo(shares, machine.account, { column: columnOfRunning(replica), charge });
    }
  }
  return [...shares].map(([account, share]) => toShareRow(state, account, share));
}

function addTo(
  shares: Map<LedgerAccount, LedgerShare>,
  account: LedgerAccount,
  { column, charge }: { column: keyof LedgerShare; charge: ProcessorMillis },
): void {
  if (charge === 0) return;
  const share = shares.get(account) ?? { used: 0, losers: 0, killed: 0 };
  share[column] += charge;
  shares.set(account, share);
}

function toShareRow(state: BrokerState, account: LedgerAccount, { used, losers, killed }: LedgerShare): LedgerRow {
  const status = state.requests.get(requestKey(account.providerId, account.requestId))?.status;
  return {
    providerId: account.providerId,
    requestId: account.requestId,
    requested: 0,
    held: used + losers + killed,
    used,
    losers,
    killed,
    idle: 0,
    ended: status === 'ended' || status === 'vanished',
  };
}
