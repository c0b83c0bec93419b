import type { ClientReadableStream } from '@grpc/grpc-js';
import { BrokerServiceClient } from '@mutirao/api/broker';
import { ClusterServiceClient } from '@mutirao/api/cluster';
import type { Content } from '@mutirao/api/common';
import { MutiraoError } from '@mutirao/api/errors';
import { GridMachineProviderServiceClient } from '@mutirao/api/provider';
import { ReservationServiceClient } from '@mutirao/api/reservation';

import type { TrustSource } from '../identity/index.ts';
import { callUnary, dial, jobBytesMax, listMessages, openSending } from '../rpc/index.ts';

import type { BrokerClient } from './broker-client.ts';
import type { ClusterClient } from './cluster-client.ts';
import { jobsAsked, wholeList, wholeOutput } from './every-page.ts';
import type { ProviderClient } from './provider-client.ts';
import type { ReservationClient } from './reservation-client.ts';

/** Bytes of a blob in one message. */
const chunkBytes = 64 * 1024;

/** How long a caller waits for an answer, and what makes it stop waiting. */
export interface CallSettings {
  readonly token: string | (() => string);
  /** How servers on other hosts are trusted. */
  readonly trust: TrustSource;
  readonly deadlineMs: number;
  readonly signal?: AbortSignal;
}

/** A client and how to end its connection. */
export interface Closable<Client> {
  readonly client: Client;
  close(): void;
}

/** The broker at an address; it connects at the first call. */
export function dialBroker(address: string, { token, trust, ...limits }: CallSettings): Closable<BrokerClient> {
  const raw = dial(BrokerServiceClient, address, { token, trust, messageBytesMax: jobBytesMax });
  const client: BrokerClient = {
    submitJob: (request) => callUnary(raw, 'submitJob', request, limits),
    getJob: (request) => callUnary(raw, 'getJob', request, limits),
    listJobs: (request) => jobsAsked(request, (page) => callUnary(raw, 'listJobs', page, limits)),
    appendTasks: (request) => callUnary(raw, 'appendTasks', request, limits),
    closeJob: (request) => callUnary(raw, 'closeJob', request, limits),
    cancelJob: (request) => callUnary(raw, 'cancelJob', request, limits),
    cancelTasks: (request) => callUnary(raw, 'cancelTasks', request, limits),
    holdTasks: (request) => callUnary(raw, 'holdTasks', request, limits),
    releaseTasks: (request) => callUnary(raw, 'releaseTasks', request, limits),
    forgetJobs: (request) => callUnary(raw, 'forgetJobs', request, limits),
    updateJob: (request) => callUnary(raw, 'updateJob', request, limits),
    retryTasks: (request) => callUnary(raw, 'retryTasks', request, limits),
    watchJob: (request, signal) => listUntil(() => raw.watchJob(request), signal),
    listTasks: (request) => callUnary(raw, 'listTasks', request, limits),
    getTaskOutput: (request) => wholeOutput(request, (page) => callUnary(raw, 'getTaskOutput', page, limits)),
    tailTaskOutput: (request, signal) => listUntil(() => raw.tailTaskOutput(request), signal),
    getOverview: () => callUnary(raw, 'getOverview', {}, limits),
    listMachines: () => wholeList('machines', (place) => callUnary(raw, 'listMachines', place, limits)),
    listTrust: () =>
      wholeList(
        'records',
        (place) => callUnary(raw, 'listTrust', place, limits),
        (one, other) => Number(other.quarantinedUnixMs !== 0) - Number(one.quarantinedUnixMs !== 0),
      ),
    quarantineMachine: (request) => callUnary(raw, 'quarantineMachine', request, limits),
    resetMachineTrust: (request) => callUnary(raw, 'resetMachineTrust', request, limits),
    drainMachine: (request) => callUnary(raw, 'drainMachine', request, limits),
    undrainMachine: (request) => callUnary(raw, 'undrainMachine', request, limits),
    listRequests: (request) =>
      wholeList('requests', (place) => callUnary(raw, 'listRequests', { ...request, ...place }, limits)),
    explain: (request) => callUnary(raw, 'explain', request, limits),
    getQuota: (request) => callUnary(raw, 'getQuota', request, limits),
    getLedger: (request) => wholeList('rows', (place) => callUnary(raw, 'getLedger', { ...request, ...place }, limits)),
    addProvider: (request) => callUnary(raw, 'addProvider', request, limits),
    removeProvider: (request) => callUnary(raw, 'removeProvider', request, limits),
    getProviderQueue: (request) => callUnary(raw, 'getProviderQueue', request, limits),
    listProviders: () => wholeList('providers', (place) => callUnary(raw, 'listProviders', place, limits)),
    uploadBlob: (data) => upload(raw, data),
  };
  return {
    client,
    close: () => {
      raw.close();
    },
  };
}

/** The messages of a call, which is cancelled when `signal` fires. */
async function* listUntil<T>(open: () => ClientReadableStream<T>, signal: AbortSignal): AsyncGenerator<T> {
  const call = open();
  const cancel = (): void => {
    call.cancel();
  };
  if (signal.aborted) cancel();
  signal.addEventListener('abort', cancel, { once: true });
  try {
    yield* listMessages(call);
  } finally {
    signal.removeEventListener('abort', cancel);
  }
}

async function upload(raw: BrokerServiceClient, data: Uint8Array): Promise<Content> {
  const { writer, response } = openSending<{ data: Buffer }, { content?: Content | undefined }>((done) =>
    raw.uploadBlob(done),
  );
  for (let offset = 0; offset < data.length || offset === 0; offset += chunkBytes) {
    if (!writer.write({ data: Buffer.from(data.subarray(offset, offset + chunkBytes)) })) await writer.drained();
  }
  writer.end();
  const { content } = await response;
  if (content === undefined) throw new MutiraoError('MUT_INTERNAL', 'the broker named no content for a blob');
  return content;
}

/** The provider at an address; it connects at the first call. */
export function dialProvider(address: string, { token, trust, ...limits }: CallSettings): Closable<ProviderClient> {
  const raw = dial(GridMachineProviderServiceClient, address, { token, trust });
  const client: ProviderClient = {
    getQueue: () => callUnary(raw, 'getQueue', {}, limits),
    getQuota: (request) => callUnary(raw, 'getQuota', request, limits),
    getResource: () => callUnary(raw, 'getResource', {}, limits),
    drain: (request) => callUnary(raw, 'drain', request, limits),
    undrain: () => callUnary(raw, 'undrain', {}, limits),
    switchHeuristic: (request) => callUnary(raw, 'switchHeuristic', request, limits),
    addMachines: (request) => callUnary(raw, 'addMachines', request, limits),
    removeMachine: (request) => callUnary(raw, 'removeMachine', request, limits),
    listRequests: () => wholeList('requests', (place) => callUnary(raw, 'listRequests', place, limits)),
    listEnrolledMachines: () => wholeList('machines', (place) => callUnary(raw, 'listEnrolledMachines', place, limits)),
    inviteMachine: (request) => callUnary(raw, 'inviteMachine', request, limits),
    listMachineCredentials: () =>
      wholeList('credentials', (place) => callUnary(raw, 'listMachineCredentials', place, limits)),
  };
  return {
    client,
    close: () => {
      raw.close();
    },
  };
}

/** The embedded cluster at an address; it connects at the first call. */
export function dialCluster(address: string, { token, trust, ...limits }: CallSettings): Closable<ClusterClient> {
  const raw = dial(ClusterServiceClient, address, { token, trust });
  const client: ClusterClient = {
    allocate: (request) => callUnary(raw, 'allocate', request, limits),
    release: (request) => callUnary(raw, 'release', request, limits),
    getLimits: (request) => callUnary(raw, 'getLimits', request, limits),
    getQueue: (request) => callUnary(raw, 'getQueue', request, limits),
    getScores: (request) =>
      wholeList(
        'scores',
        (place) => callUnary(raw, 'getScores', { ...request, ...place }, limits),
        (one, other) => other.score - one.score,
      ),
  };
  return {
    client,
    close: () => {
      raw.close();
    },
  };
}

/** The reservation manager at an address; it connects at the first call. */
export function dialReservations(
  address: string,
  { token, trust, ...limits }: CallSettings,
): Closable<ReservationClient> {
  const raw = dial(ReservationServiceClient, address, { token, trust });
  const client: ReservationClient = {
    requestReservation: (request) => callUnary(raw, 'requestReservation', request, limits),
    getReservation: (request) => callUnary(raw, 'getReservation', request, limits),
    listReservations: (request) => callUnary(raw, 'listReservations', request, limits),
    renegotiateReservation: (request) => callUnary(raw, 'renegotiateReservation', request, limits),
    cancelReservation: (request) => callUnary(raw, 'cancelReservation', request, limits),
    confirmReservation: (request) => callUnary(raw, 'confirmReservation', request, limits),
    prepareReservation: (request) => callUnary(raw, 'prepareReservation', request, limits),
    verifyReservation: (request) => callUnary(raw, 'verifyReservation', request, limits),
    claimReservation: (request) => callUnary(raw, 'claimReservation', request, limits),
    releaseReservation: (request) => callUnary(raw, 'releaseReservation', request, limits),
    getQuota: (request) => callUnary(raw, 'getQuota', request, limits),
    getCalendar: (request) => callUnary(raw, 'getCalendar', request, limits),
    registerResource: (request) => callUnary(raw, 'registerResource', request, limits),
    updateResource: (request) => callUnary(raw, 'updateResource', request, limits),
    addMaintenance: (request) => callUnary(raw, 'addMaintenance', request, limits),
    removeMaintenance: (request) => callUnary(raw, 'removeMaintenance', request, limits),
    failResource: (request) => callUnary(raw, 'failResource', request, limits),
    restoreResource: (request) => callUnary(raw, 'restoreResource', request, limits),
    listResources: () => wholeList('resources', (place) => callUnary(raw, 'listResources', place, limits)),
  };
  return {
    client,
    close: () => {
      raw.close();
    },
  };
}
