import { JobStatus, TaskStatus, type ExplainResponse, type ReplicaRecord, type TaskRecord } from '@mutirao/api/broker';
import { MutiraoError } from '@mutirao/api/errors';
import type { GetResourceResponse } from '@mutirao/api/provider';
import { reasonDocument } from '@mutirao/api/reasons';

import { byName, getMachineId, machineDocument, machineOverview } from '../documents/machines.ts';
import { instantOrNull } from '../documents/names.ts';
import { providerList, providerRow, requestDocument } from '../documents/providers.ts';
import { queueProfile, queueStatus } from '../documents/queue-profile.ts';
import type { GatewayParts } from '../grid-calls.ts';
import type { JobSpecs } from '../job-specs.ts';
import type { Readings } from '../readings.ts';
import type { Handlers } from '../requests.ts';
import type { Explanation, MachineDetail, ProviderDetail } from '../../schema/index.ts';

const machinesDefault = 200;
const ownRequestsMax = 200;
/** Jobs that are looked through for what a machine runs, and running tasks of each. */
const jobsSearched = 20;
const tasksSearched = 10_000;

/** Machines, providers, and why things are where they are. */
export function resourceHandlers(
  parts: GatewayParts,
  readings: Readings,
  specs: JobSpecs,
): Handlers<
  | 'getMachines'
  | 'listMachines'
  | 'getMachine'
  | 'listProviders'
  | 'getProvider'
  | 'explainJob'
  | 'explainTask'
  | 'explainRequest'
> {
  const { grid } = parts;
  return {
    getMachines: async () => machineOverview((await readings.machines()).machines),
    listMachines: async ({ query }) => {
      const all = byName((await readings.machines()).machines).filter(
        ({ providerId }) => query.provider_id === undefined || providerId === query.provider_id,
      );
      const from =
        query.after === undefined ? 0 : 1 + all.findIndex((machine) => getMachineId(machine) === query.after);
      const page = all.slice(from, from + (query.page_size ?? machinesDefault));
      const last = page.at(-1);
      return {
        machines: page.map(machineDocument),
        next_after: last === undefined || last === all.at(-1) ? null : getMachineId(last),
        machine_count: all.length,
      };
    },
    getMachine: ({ query }) => findMachine(parts, { readings, specs }, query.machine_id),
    listProviders: async () =>
      providerList((await readings.providers()).providers, (await readings.requests()).requests),
    getProvider: ({ params }) => findProvider(parts, readings, params.provider_id),
    explainJob: async ({ params }) => ({
      subject: `job ${params.job_id}`,
      ...explanationOf(await grid.broker().explain({ subject: { $case: 'jobId', value: params.job_id } })),
    }),
    explainTask: async ({ params: { job_id: jobId, task_index: taskIndex } }) => ({
      subject: `task ${taskIndex} of job ${jobId}`,
      ...explanationOf(await grid.broker().explain({ subject: { $case: 'task', value: { jobId, taskIndex } } })),
    }),
    explainRequest: async ({ query: { request } }) => ({
      subject: `request ${request}`,
      ...explanationOf(await grid.broker().explain({ subject: { $case: 'request', value: request } })),
    }),
  };
}

/** @throws {MutiraoError} MUT_PROTOCOL where the answer says nothing. */
function explanationOf({ summary, waiting, details }: ExplainResponse): Omit<Explanation, 'subject'> {
  if (summary === undefined) throw new MutiraoError('MUT_PROTOCOL', 'the broker gave no explanation');
  return {
    summary: reasonDocument(summary),
    waiting: waiting === undefined ? null : reasonDocument(waiting),
    details: details.map(reasonDocument),
  };
}

/** Those of the tasks of a job that a machine runs. */
async function listRunning(
  specs: JobSpecs,
  machineId: string,
  tasks: readonly TaskRecord[],
): Promise<MachineDetail['running']> {
  const isThere = (one: ReplicaRecord): boolean => one.machineId === machineId && one.endedUnixMs === 0;
  const [first, ...others] = tasks.filter((task) => task.replicas.some(isThere));
  if (first === undefined) return [];
  const needOf = await specs.needs(first.jobId);
  return [first, ...others].flatMap((task) =>
    task.replicas.filter(isThere).map((replica) => ({
      job_id: task.jobId,
      task_index: task.taskIndex,
      value: task.value,
      replica_id: replica.replicaId,
      dispatched_unix_ms: replica.dispatchedUnixMs,
      started_unix_ms: instantOrNull(replica.startedUnixMs),
      ...needOf(task.taskIndex),
    })),
  );
}

/** A machine and what it runs, by the running tasks of the jobs that run. */
async function findMachine(
  { grid }: GatewayParts,
  { readings, specs }: { readonly readings: Readings; readonly specs: JobSpecs },
  machineId: string,
): Promise<MachineDetail> {
  const machine = (await readings.machines()).machines.find((one) => getMachineId(one) === machineId);
  if (machine === undefined) throw new MutiraoError('MUT_NOT_FOUND', `there is no machine ${machineId} now`);
  const jobs = (await readings.jobs()).jobs.filter(
    ({ status, runningCount }) => status === JobStatus.RUNNING && runningCount > 0,
  );
  const running: MachineDetail['running'] = [];
  let isComplete = jobs.length <= jobsSearched;
  for (const { jobId } of machine.runningCount === 0 ? [] : jobs.slice(0, jobsSearched)) {
    const { tasks, nextTaskIndex } = await grid
      .broker()
      .listTasks({ jobId, taskIndexes: [], status: TaskStatus.RUNNING, pageSize: tasksSearched, fromTaskIndex: 0 });
    if (nextTaskIndex !== undefined) isComplete = false;
    running.push(...(await listRunning(specs, machineId, tasks)));
    if (running.length >= machine.runningCount) break;
  }
  return { machine: machineDocument(machine), running, is_complete: isComplete };
}

/** A provider with what it says of itself, all its requests, and its queue where that can be read from here. */
async function findProvider({ grid }: GatewayParts, readings: Readings, providerId: string): Promise<ProviderDetail> {
  const provider = (await readings.providers()).providers.find((one) => one.providerId === providerId);
  if (provider === undefined) throw new MutiraoError('MUT_NOT_FOUND', `there is no provider ${providerId}`);
  const [resource, { requests }] = await Promise.all([
    askResource(grid, provider.address),
    grid.broker().listRequests({ includeEnded: true }),
  ]);
  const own = requests.filter((request) => request.providerId === providerId);
  const queue = await readQueue(readings, providerId, resource);
  return {
    provider: providerRow(provider, requests),
    requests: own.slice(-ownRequestsMax).map(requestDocument),
    ...queue,
    resource:
      resource === undefined
        ? null
        : {
            resource_kind: resource.resourceKind,
            processors: resource.processors,
            requests_max: resource.requestsMax,
            walltime_ms_max: resource.walltimeMsMax,
            width_processors_max: resource.widthProcessorsMax,
            walltime_granularity_ms: resource.walltimeGranularityMs,
            heuristic: resource.heuristic,
            queued_requests: resource.queuedRequests,
            machines: resource.machines,
            draining: resource.draining,
            reasons: resource.reasons.map(reasonDocument),
          },
  };
}

/** The page must show a provider that is away, so that is not an error. */
async function askResource(grid: GatewayParts['grid'], address: string): Promise<GetResourceResponse | undefined> {
  try {
    return await grid.provider(address).getResource();
  } catch (error) {
    if (error instanceof MutiraoError) return undefined;
    throw error;
  }
}

/** The queue as the provider sees it, read through the broker. The page must show a provider that cannot report one. */
async function readQueue(
  readings: Readings,
  providerId: string,
  resource: GetResourceResponse | undefined,
): Promise<Pick<ProviderDetail, 'queue' | 'profile' | 'profile_missing'>> {
  if (resource?.resourceKind === 'machines')
    return { queue: null, profile: null, profile_missing: 'Its machines are shared by time: there is no queue.' };
  try {
    const { queue, ageMs } = await readings.queue(providerId);
    if (queue === undefined)
      return { queue: null, profile: null, profile_missing: 'The provider has not reported its queue.' };
    const profile = queueProfile(queue);
    return {
      queue: queueStatus(queue, ageMs),
      profile,
      profile_missing: profile === null ? (queue.trouble?.text ?? '') : '',
    };
  } catch (error) {
    if (!(error instanceof MutiraoError)) throw error;
    return {
      queue: null,
      profile: null,
      profile_missing:
        resource === undefined ? 'The provider is unreachable.' : `Cannot read its queue: ${error.message}`,
    };
  }
}
