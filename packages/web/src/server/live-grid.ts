import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { BrokerServiceClient } from '@mutirao/api/broker';
import { ClusterServiceClient } from '@mutirao/api/cluster';
import { MutiraoError } from '@mutirao/api/errors';
import { GridMachineProviderServiceClient } from '@mutirao/api/provider';
import { ReservationServiceClient } from '@mutirao/api/reservation';
import { findSiteTokenAt, readToken, tokenPath } from '@mutirao/runtime/files';
import { userTrust } from '@mutirao/runtime/identity';
import { callUnary, dial, messagesOf, openSending, type CallLimits, type ClientConstructor } from '@mutirao/runtime/rpc';

import type { BrokerCalls, ClusterCalls, Grid, ProviderCalls, ReservationCalls } from './grid-calls.ts';

/** How long the page waits for one answer. */
const limits: CallLimits = { deadlineMs: 20_000 };
/** Bytes of a blob in one message. */
const chunkBytes = 64 * 1024;

/** Where the parts of the grid are; empty for what the home folder itself tells. */
export interface LiveGridOptions {
  readonly home: string;
  readonly broker: string;
  readonly reservations: string;
}

type RawClient = InstanceType<ClientConstructor<BrokerServiceClient | ClusterServiceClient | GridMachineProviderServiceClient | ReservationServiceClient>>;

/** The grid of a home folder: addresses are read when they are needed, so that a broker that comes back elsewhere is found. `close` ends all connections. */
export function liveGrid(options: LiveGridOptions): Grid & { close(): void } {
  const { home } = options;
  const dialled = new Map<string, { readonly raw: RawClient; readonly calls: unknown }>();
  const once = <C extends RawClient, Calls>(kind: string, address: string, { Client, wrap }: { readonly Client: ClientConstructor<C>; readonly wrap: (raw: C) => Calls }): Calls => {
    const key = `${kind} ${address}`;
    const known = dialled.get(key);
    if (known !== undefined) return known.calls as Calls;
    const siteToken = kind === 'provider' ? findSiteTokenAt(home, address) : undefined;
    const raw = dial(Client, address, { token: siteToken ?? (() => readToken(tokenPath(home))), trust: userTrust(home) });
    const calls = wrap(raw);
    dialled.set(key, { raw, calls });
    return calls;
  };
  const brokerAddress = (): string => options.broker || (addressIn(join(home, 'broker.json')) ?? '');
  return {
    brokerAddress,
    broker: () => {
      const address = brokerAddress();
      if (address === '') throw new MutiraoError('MUT_UNREACHABLE', `no broker has started in ${home}`);
      return once('broker', address, { Client: BrokerServiceClient, wrap: brokerCalls });
    },
    provider: (address) => once('provider', address, { Client: GridMachineProviderServiceClient, wrap: providerCalls }),
    findCluster: (providerId) => {
      const address = isName(providerId) ? addressIn(join(home, 'clusters', providerId, 'cluster.json')) : undefined;
      return address === undefined ? undefined : once('cluster', address, { Client: ClusterServiceClient, wrap: clusterCalls });
    },
    findReservations: () => {
      const address = options.reservations || findManager(home);
      return address === undefined ? undefined : once('reservations', address, { Client: ReservationServiceClient, wrap: reservationCalls });
    },
    close: () => { for (const { raw } of dialled.values()) raw.close(); },
  };
}

function brokerCalls(raw: BrokerServiceClient): BrokerCalls {
  return {
    submitJob: (request) => callUnary(raw, 'submitJob', request, limits),
    getJob: (request) => callUnary(raw, 'getJob', request, limits),
    listJobs: (request) => callUnary(raw, 'listJobs', request, limits),
    cancelJob: (request) => callUnary(raw, 'cancelJob', request, limits),
    retryTasks: (request) => callUnary(raw, 'retryTasks', request, limits),
    watchJob: (request, signal) => watch(raw, request, signal),
    listTasks: (request) => callUnary(raw, 'listTasks', request, limits),
    getTaskOutput: (request) => callUnary(raw, 'getTaskOutput', request, limits),
    listMachines: () => callUnary(raw, 'listMachines', {}, limits),
    listRequests: (request) => callUnary(raw, 'listRequests', request, limits),
    explain: (request) => callUnary(raw, 'explain', request, limits),
    getLedger: (request) => callUnary(raw, 'getLedger', request, limits),
    listProviders: () => callUnary(raw, 'listProviders', {}, limits),
    uploadBlob: (data) => upload(raw, data),
  };
}

async function* watch(raw: BrokerServiceClient, request: Parameters<BrokerCalls['watchJob']>[0], signal: AbortSignal): ReturnType<BrokerCalls['watchJob']> & AsyncGenerator {
  const call = raw.watchJob(request);
  const cancel = (): void => { call.cancel(); };
  if (signal.aborted) cancel();
  signal.addEventListener('abort', cancel, { once: true });
  try {
    yield* messagesOf(call);
  } finally {
    signal.removeEventListener('abort', cancel);
  }
}

async function upload(raw: BrokerServiceClient, data: Uint8Array): Promise<Awaited<ReturnType<BrokerCalls['uploadBlob']>>> {
  const { writer, response } = openSending<{ data: Buffer }, { content?: Awaited<ReturnType<BrokerCalls['uploadBlob']>> | undefined }>((done) => raw.uploadBlob(done));
  for (let offset = 0; offset < data.length || offset === 0; offset += chunkBytes) {
    if (!writer.write({ data: Buffer.from(data.subarray(offset, offset + chunkBytes)) })) await writer.drained();
  }
  writer.end();
  const { content } = await response;
  if (content === undefined) throw new MutiraoError('MUT_INTERNAL', 'the broker named no content for a blob');
  return content;
}

function providerCalls(raw: GridMachineProviderServiceClient): ProviderCalls {
  return { getResource: () => callUnary(raw, 'getResource', {}, limits), listRequests: () => callUnary(raw, 'listRequests', {}, limits) };
}

function clusterCalls(raw: ClusterServiceClient): ClusterCalls {
  return { getQueue: () => callUnary(raw, 'getQueue', { endedMax: 0, userId: '' }, limits) };
}

function reservationCalls(raw: ReservationServiceClient): ReservationCalls {
  return {
    listResources: () => callUnary(raw, 'listResources', {}, limits),
    getCalendar: (request) => callUnary(raw, 'getCalendar', request, limits),
    listReservations: (request) => callUnary(raw, 'listReservations', request, limits),
    requestReservation: (request) => callUnary(raw, 'requestReservation', request, limits),
    renegotiateReservation: (request) => callUnary(raw, 'renegotiateReservation', request, limits),
    cancelReservation: (request) => callUnary(raw, 'cancelReservation', request, limits),
  };
}

/** What may stand in a path: names of clusters do. */
function isName(text: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(text);
}

/** The only reservation manager of the home folder; undefined where there is none, or several. */
function findManager(home: string): string | undefined {
  const folder = join(home, 'reservations');
  try {
    const [name, ...others] = readdirSync(folder);
    return name === undefined || others.length > 0 ? undefined : addressIn(join(folder, name, 'reservations.json'));
  } catch {
    return undefined;
  }
}

function addressIn(path: string): string | undefined {
  try {
    const { address } = JSON.parse(readFileSync(path, 'utf8')) as { address?: unknown };
    return typeof address === 'string' && address !== '' ? address : undefined;
  } catch {
    return undefined; // Not started yet.
  }
}
