import {
  BrokerServiceService,
  type AddProviderRequest,
  type RemoveProviderRequest,
  type AppendTasksRequest,
  type AppendTasksResponse,
  type CancelTasksRequest,
  type CancelTasksResponse,
  type ForgetJobsResponse,
  type SubmitJobRequest,
  type SubmitJobResponse,
  type UploadBlobResponse,
} from '@mutirao/api/broker';
import { bind, type AuditedMethods, type Handlers, type ServiceBinding } from '@mutirao/runtime/rpc';

import { downloadBlobRoute, uploadBlobRoute } from './blobs.ts';
import type { BrokerParts } from './broker-parts.ts';
import { explainRoute, getLedgerRoute } from './explain.ts';
import { getQuotaRoute, type QuotaSource } from './get-quota.ts';
import { getTaskOutputRoute } from './get-task-output.ts';
import { appendTasksRoute, closeJobRoute } from './append-tasks.ts';
import { cancelJobRoute, cancelTasksRoute, getJobRoute, listJobsRoute, retryTasksRoute } from './jobs.ts';
import { listTasksRoute } from './list-tasks.ts';
import {
  addProviderRoute,
  removeProviderRoute,
  drainMachineRoute,
  undrainMachineRoute,
  getOverviewRoute,
  getProviderQueueRoute,
  listMachinesRoute,
  listProvidersRoute,
  listRequestsRoute,
  listTrustRoute,
  resetMachineTrustRoute,
  quarantineMachineRoute,
} from './resources.ts';
import { forgetJobsRoute, holdTasksRoute, releaseTasksRoute, updateJobRoute } from './update-jobs.ts';
import { submitJobRoute } from './submit-job.ts';
import { tailTaskOutputRoute } from './tail-task-output.ts';
import { waitJobRoute } from './wait-job.ts';
import { watchJobRoute } from './watch-job.ts';

/** The broker's service, ready to be served. @param usesOf what users take of the server. */
export function brokerService(parts: BrokerParts, usesOf: QuotaSource): ServiceBinding {
  return bind(BrokerServiceService, brokerRoutes(parts, usesOf), { audited, ownerId: parts.ownerId });
}

/** The handlers of the broker's service. */
export function brokerRoutes(parts: BrokerParts, usesOf: QuotaSource): Handlers<typeof BrokerServiceService> {
  return {
    submitJob: submitJobRoute(parts),
    appendTasks: appendTasksRoute(parts),
    closeJob: closeJobRoute(parts),
    getJob: getJobRoute(parts),
    listJobs: listJobsRoute(parts),
    cancelJob: cancelJobRoute(parts),
    cancelTasks: cancelTasksRoute(parts),
    holdTasks: holdTasksRoute(parts),
    releaseTasks: releaseTasksRoute(parts),
    updateJob: updateJobRoute(parts),
    forgetJobs: forgetJobsRoute(parts),
    retryTasks: retryTasksRoute(parts),
    waitJob: waitJobRoute(parts),
    watchJob: watchJobRoute(parts),
    listTasks: listTasksRoute(parts),
    getTaskOutput: getTaskOutputRoute(parts),
    tailTaskOutput: tailTaskOutputRoute(parts),
    uploadBlob: uploadBlobRoute(parts),
    downloadBlob: downloadBlobRoute(parts),
    getOverview: getOverviewRoute(parts),
    listMachines: listMachinesRoute(parts),
    listTrust: listTrustRoute(parts),
    quarantineMachine: quarantineMachineRoute(parts),
    resetMachineTrust: resetMachineTrustRoute(parts),
    drainMachine: drainMachineRoute(parts),
    undrainMachine: undrainMachineRoute(parts),
    listRequests: listRequestsRoute(parts),
    explain: explainRoute(parts),
    getLedger: getLedgerRoute(parts),
    addProvider: addProviderRoute(parts),
    removeProvider: removeProviderRoute(parts),
    getProviderQueue: getProviderQueueRoute(parts),
    getQuota: getQuotaRoute(parts, usesOf),
    listProviders: listProvidersRoute(parts),
  };
}

const deriveJob = ({ jobId }: { readonly jobId: number }): string => `job ${jobId}`;
const machineOf = ({ machineId }: { readonly machineId: string }): string => `machine ${machineId}`;

const audited: AuditedMethods = {
  submitJob: {
    action: 'job.submit',
    target: (_request: SubmitJobRequest, { jobId, taskCount }: SubmitJobResponse) =>
      `job ${jobId} of ${taskCount} tasks`,
  },
  appendTasks: {
    action: 'job.append',
    target: ({ jobId }: AppendTasksRequest, { taskCount }: AppendTasksResponse) => `${taskCount} tasks of job ${jobId}`,
  },
  closeJob: { action: 'job.close', target: deriveJob },
  cancelJob: { action: 'job.cancel', target: deriveJob },
  cancelTasks: {
    action: 'tasks.cancel',
    target: ({ jobId }: CancelTasksRequest, { cancelledCount }: CancelTasksResponse) =>
      `${cancelledCount} tasks of job ${jobId}`,
  },
  holdTasks: { action: 'tasks.hold', target: deriveJob },
  releaseTasks: { action: 'tasks.release', target: deriveJob },
  updateJob: { action: 'job.update', target: deriveJob },
  forgetJobs: {
    action: 'jobs.forget',
    target: (_request: unknown, { jobIds }: ForgetJobsResponse) => `${jobIds.length} jobs`,
  },
  retryTasks: { action: 'job.retry', target: deriveJob },
  uploadBlob: {
    action: 'blob.upload',
    target: (_request: unknown, { content }: UploadBlobResponse) => `${content?.sizeBytes ?? 0} bytes`,
  },
  quarantineMachine: { action: 'machine.quarantine', target: machineOf },
  resetMachineTrust: { action: 'machine.reset-trust', target: machineOf },
  drainMachine: { action: 'machine.drain', target: machineOf },
  undrainMachine: { action: 'machine.undrain', target: machineOf },
  removeProvider: {
    action: 'provider.remove',
    target: ({ providerId }: RemoveProviderRequest) => `provider ${providerId}`,
  },
  addProvider: {
    action: 'provider.add',
    target: ({ providerId, address }: AddProviderRequest) => `provider ${providerId} at ${address}`,
  },
};
