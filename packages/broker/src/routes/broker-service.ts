import { BrokerServiceService } from '@mutirao/api/broker';
import { bind, type ServiceBinding } from '@mutirao/runtime/rpc';

import { downloadBlobRoute, uploadBlobRoute } from './blobs.ts';
import type { BrokerParts } from './broker-parts.ts';
import { explainRoute, getLedgerRoute } from './explain.ts';
import { getTaskOutputRoute } from './get-task-output.ts';
import { cancelJobRoute, getJobRoute, listJobsRoute, retryTasksRoute } from './jobs.ts';
import { listTasksRoute } from './list-tasks.ts';
import {
  addProviderRoute, getOverviewRoute, getProviderQueueRoute, listMachinesRoute, listProvidersRoute, listRequestsRoute, listTrustRoute, pardonMachineRoute, quarantineMachineRoute,
} from './resources.ts';
import { submitJobRoute } from './submit-job.ts';
import { waitJobRoute } from './wait-job.ts';
import { watchJobRoute } from './watch-job.ts';

/** The broker's service, ready to be served. */
export function brokerService(parts: BrokerParts): ServiceBinding {
  return bind(BrokerServiceService, {
    submitJob: submitJobRoute(parts),
    getJob: getJobRoute(parts),
    listJobs: listJobsRoute(parts),
    cancelJob: cancelJobRoute(parts),
    retryTasks: retryTasksRoute(parts),
    waitJob: waitJobRoute(parts),
    watchJob: watchJobRoute(parts),
    listTasks: listTasksRoute(parts),
    getTaskOutput: getTaskOutputRoute(parts),
    uploadBlob: uploadBlobRoute(parts),
    downloadBlob: downloadBlobRoute(parts),
    getOverview: getOverviewRoute(parts),
    listMachines: listMachinesRoute(parts),
    listTrust: listTrustRoute(parts),
    quarantineMachine: quarantineMachineRoute(parts),
    pardonMachine: pardonMachineRoute(parts),
    listRequests: listRequestsRoute(parts),
    explain: explainRoute(parts),
    getLedger: getLedgerRoute(parts),
    addProvider: addProviderRoute(parts),
    getProviderQueue: getProviderQueueRoute(parts),
    listProviders: listProvidersRoute(parts),
  });
}
