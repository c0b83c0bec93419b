import { IndexSet, invariant, type TaskIndex } from '../../../shared/index.ts';
import { admitTask, holdSuccessors, isUnread } from './apply-dependencies.ts';
import { getJob } from './apply-job.ts';
import type { ChangeOf } from '../changes.ts';
import type { BrokerJob, BrokerState } from '../state.ts';
import { openRecord } from '../trust/trust-records.ts';

/** Pieces of evidence that a record keeps. */
const evidenceKeptMax = 20;

/** Notes what a success is. */
export function digestReplica(state: BrokerState, change: ChangeOf<'ReplicaDigested'>): void {
  const success = state.successes.get(change.replicaId);
  invariant(success, `replica ${change.replicaId} has a digest, but there is no success of it`);
  success.digest = change.digest;
}

/** Notes the machines that brought the accepted result; two or more that agree confirm each other. */
export function decideTask(
  state: BrokerState,
  { jobId, taskIndex, voters, outvotedCount }: ChangeOf<'TaskDecided'>,
): void {
  const job = getJob(state, jobId);
  for (const identity of voters) {
    findSupport(job, identity).add(taskIndex);
    if (voters.length > 1) openRecord(state, identity, nameOf(state, identity)).passes++;
  }
  job.extraVoteCount += voters.length - 1 + outvotedCount;
}

function findSupport(job: BrokerJob, identity: string): IndexSet {
  let support = job.supports.get(identity);
  if (support === undefined) job.supports.set(identity, (support = new IndexSet()));
  return support;
}

/** Its name as in a success of it, or its identity if it is gone. */
function nameOf(state: BrokerState, identity: string): string {
  for (const success of state.successes.values()) if (success.identity === identity) return success.machineId;
  return identity;
}

/**
 * Makes finished tasks ready again where their job is running; where it is over, or other tasks have begun with their
 * results, marks them.
 */
export function doubtResults(state: BrokerState, { jobId, taskIndexes }: ChangeOf<'ResultsDoubted'>): void {
  const job = getJob(state, jobId);
  const runsAgain = job.status === 'running';
  for (const index of taskIndexes) {
    for (const support of job.supports.values()) support.delete(index);
    if (runsAgain && isUnread(job, index)) reopen(job, index);
    else job.doubtful.add(index);
  }
}

function reopen(job: BrokerJob, index: TaskIndex): void {
  invariant(job.finished.delete(index), `task ${index} of job ${job.jobId} is doubted, and has not finished`);
  holdSuccessors(job, index);
  admitTask(job, index);
}

/** Notes what speaks against a machine. */
export function noteEvidence(
  state: BrokerState,
  { identity, machineId, evidence, isQuarantined }: ChangeOf<'EvidenceNoted'>,
): void {
  const record = openRecord(state, identity, machineId);
  record.machineId = machineId;
  record.evidence = [...record.evidence, evidence].slice(-evidenceKeptMax);
  if (isQuarantined && record.quarantinedAt === 0) record.quarantinedAt = evidence.at;
}

/** Lets a machine begin again, without credit. */
export function resetMachineTrust(
  state: BrokerState,
  { identity, machineId, at }: ChangeOf<'MachineTrustReset'>,
): void {
  Object.assign(openRecord(state, identity, machineId), { passes: 0, quarantinedAt: 0, trustResetAt: at });
}
