import type { Machine } from '../../shared/index.ts';
import { apply } from './apply.ts';
import type { BrokerChange } from './changes.ts';
import { checkInvariants } from './check-invariants.ts';
import type { BrokerCommand } from './commands.ts';
import type { BrokerInput } from './inputs.ts';
import type { BrokerState } from './state.ts';
import { step } from './step.ts';

/** The broker: jobs in, replicas to machines, results accepted. */
export const brokerMachine: Machine<BrokerState, BrokerInput, BrokerChange, BrokerCommand> = {
  step,
  apply,
  checkInvariants,
};

export { listJobQuotas } from './jobs/user-quotas.ts';
export { openBrokerInitialState, saveBrokerInitialState } from './beginning.ts';
export { outputsOn } from './dispatch/matching.ts';
export type { BrokerChange, ChangeOf, ReplicaEnding, ReplicaDisposition } from './changes.ts';
export type { BrokerCommand, DispatchedStart } from './commands.ts';
export { isDurable } from './durable.ts';
export { listEvents, type BrokerEvent, type BrokerEventType } from './events.ts';
export { explainJob } from './explain/explain-job.ts';
export { explainMachine } from './explain/explain-machine.ts';
export { explainRequest } from './explain/explain-request.ts';
export { findPlannedEnd } from './explain/explain-plan.ts';
export { explainTask, type PastReplica, type TaskSubject } from './explain/explain-task.ts';
export type { Explanation } from './explain/explanation.ts';
export { findJobByClientId, findUserJob } from './jobs/find-job.ts';
export type { BrokerInput, GetInput } from './inputs.ts';
export { findJobLedger, findLedger, type LedgerRow } from './ledger/ledger.ts';
export type { GrantedLease, LeasedTasks, LeaseRules } from './leases/leases.ts';
export { defaultBrokerOptions, type BrokerOptions, type TrustRules } from './options.ts';
export {
  findJobSummary,
  findTaskSummary,
  listJobSummaries,
  listMachineRecords,
  listProviders,
  listRequests,
  listTaskIndexes,
  listTrust,
  type JobSummary,
  type ListedTrust,
  type MachineRecord,
  type MachineStatus,
  type OpenReplica,
  type ProviderRecord,
  type TaskSummary,
} from './queries.ts';
export { findOverview, type GridOverview } from './overview.ts';
export { outputsRead, type OutputsRead } from './workflow/outputs-read.ts';
export { type JobEstimate, estimateJob } from './explain/job-estimate.ts';
export { keepsAway } from './times/remaining-time.ts';
export { resume, skipForgottenIds } from './resume.ts';
export { restore } from './restore.ts';
export { snapshot, snapshotVersion } from './snapshot.ts';
export { mayUse } from './site-selection/assigned-tasks.ts';
export {
  createBrokerState,
  type BrokerJob,
  type BrokerMachine,
  type BrokerReplica,
  type BrokerState,
  type TaskQueue,
} from './state.ts';
export { countAllTasks, countTasks, getRequest, getResources, withMemory } from './jobs/task-groups.ts';
export { expectedRemaining, expectedTime, timeQuantile } from './times/task-times.ts';
export type { TrustEvidence, TrustRecord } from './trust/trust-evidence.ts';
export { findDrain } from './machines/takes-work.ts';
export { getCredibility, findIdentity, getIdentity, isQuarantined } from './trust/trust-records.ts';
export { findSpecFault, taskCountMax, voteCountMax } from './jobs/validate-spec.ts';
