import { chmodSync } from 'node:fs';
import { Server, type ServerCredentials } from '@grpc/grpc-js';
import { addressTaken } from './address-taken.ts';
import { MutiraoError } from '@mutirao/api/errors';
import { noQuotaRules, type QuotaRules, type QuotaUse } from '@mutirao/core/quotas';
import type { UserId } from '@mutirao/core/shared';
import { ensureIdentity } from '../identity/index.ts';
import { quietAudit, type Audit } from '../audit/index.ts';
import { RepeatedLines, type Logger } from '../log/index.ts';
import type { Metrics } from '../metrics/index.ts';
import type { RpcHost } from './adapt.ts';
import { GatedMethods } from './admission/gated-methods.ts';
import { guardServer, type GuardLimits } from './admission/guard-server.ts';
import { CallerLoads } from './admission/caller-loads.ts';
import {
  isLoopback,
  isSocket,
  joinAddress,
  parseAddress,
  socketAddress,
  type HostAddress,
  type SocketAddress,
} from './address.ts';
import type { ServiceBinding } from './bind.ts';
import { channelOptions, messageBytesMax, getWithMessages } from './channel.ts';
import { OpenCalls } from './open-calls.ts';
import { addReflection, reflectionPaths } from './reflection.ts';
import { plainSecurity, tlsSecurity, type ServerSecurity } from './server-security.ts';
import { makeRoomForSocket } from './socket-folder.ts';
import type { TokenCheck } from './tokens.ts';

/** What to serve, where, and to which callers. */
export interface ServeOptions {
  /**
   * `host:port`, which speaks TLS; port 0 takes a free one. Or `unix:/path`, in a folder of this user alone, which is
   * made if it is absent.
   */
  readonly address: string;
  /** Who callers at a socket are. With TLS they show a certificate instead. */
  readonly tokens: TokenCheck;
  /**
   * Folder of the identity that TLS needs; made for a loopback address where it is absent. Left out by servers of
   * sockets alone.
   */
  readonly identity?: string;
  readonly log: Logger;
  readonly services: readonly ServiceBinding[];
  readonly metrics?: Metrics;
  /** The largest message either way; 16 MiB when left out. */
  readonly messageBytesMax?: number;
  /** What users may take of the server; no bounds when left out. */
  readonly quotas?: QuotaRules;
  /** Where refusals and changes are written down; nowhere when left out. */
  readonly audit?: Audit;
  /** Bounds on connections and calls other than those of the documentation, for tests. */
  readonly limits?: Partial<GuardLimits>;
}

/** A server that takes calls. */
export interface RunningServer {
  /** The address with the port that was taken, as `dial` wants it. */
  readonly address: string;
  /** What a user takes of the server now: connections, open calls, and requests that are arriving. */
  usesOf(userId: UserId): readonly QuotaUse[];
  /** The most that any one machine takes of the server now. */
  machineUses(): readonly QuotaUse[];
  /** Takes no new call, closes streams both ways, lets other calls end for `graceMs`, then cuts them off. */
  drain(graceMs: number): Promise<void>;
}

/** How often a server with TLS looks for expired and revoked certificates of open calls. */
const securityInterval = 1000;

/**
 * Serves services, with grpc.health.v1 open to all and server reflection to those with a credential.
 *
 * @throws {MutiraoError} MUT_BAD_CONFIG, MUT_TOKEN_UNSAFE for a key that others may read or a socket in a folder that
 * others can enter, MUT_ADDRESS_TAKEN when the port is taken, or MUT_ALREADY_RUNNING when the socket is.
 */
export async function serve(options: ServeOptions): Promise<RunningServer> {
  const address = parseAddress(options.address);
  const { isTls } = address;
  if (!isSocket(address) && isLoopback(address.host) && options.identity !== undefined)
    await ensureIdentity(options.identity);
  const security = isTls ? tlsSecurity(options.identity, options.log) : plainSecurity;
  const stopping = new AbortController();
  const rpcHost: RpcHost = {
    tokens: options.tokens,
    revoked: security.revoked,
    log: options.log,
    refusals: new RepeatedLines(options.log),
    audit: options.audit ?? quietAudit,
    stopping: stopping.signal,
    streams: new Set(),
    certified: new OpenCalls(),
    messageBytesMax: options.messageBytesMax ?? messageBytesMax,
    count: countCalls(options.metrics),
  };
  const { server, health, guard, loads } = await assemble(options, rpcHost);
  const bound = await (isSocket(address)
    ? listenAtSocket(server, address, security.credentials)
    : listenAtPort(server, address, security.credentials));
  const stopWatching = isTls ? watchSecurity(security, rpcHost.certified) : () => undefined;
  return {
    address: `${options.address.startsWith('tls://') ? 'tls://' : ''}${bound}`,
    usesOf: (userId) => loads.usesOf(userId),
    machineUses: () => loads.machineUses(),
    drain: async (graceMs) => {
      stopWatching();
      guard.stop();
      for (const service of ['', ...options.services.map((binding) => binding.name)])
        health.setStatus(service, 'NOT_SERVING');
      stopping.abort();
      for (const stream of rpcHost.streams) stream.close(new MutiraoError('MUT_STOPPING', 'the server is stopping'));
      await shutDown(server, graceMs);
    },
  };
}

/** A server of grpc-js with all its services, which does not listen yet. */
async function assemble(options: ServeOptions, host: RpcHost) {
  const { services, messageBytesMax: bytesMax = messageBytesMax } = options;
  const server = new Server({ ...channelOptions, ...getWithMessages(bytesMax) });
  // Loaded here, so that a process that only dials does not pay for it.
  const { HealthImplementation, service: healthService } = await import('grpc-health-check');
  const health = new HealthImplementation({ '': 'SERVING' });
  const loads = new CallerLoads(options.quotas ?? noQuotaRules);
  const methods = new GatedMethods({ host, loads, messageBytesMax: bytesMax });
  methods.addOpen(Object.values(healthService));
  methods.addReflection(reflectionPaths);
  const guard = guardServer(server, { methods: methods.byPath, loads, host, limits: options.limits });
  health.addToServer(server);
  addReflection(
    server,
    host,
    services.map((service) => service.name),
  );
  for (const service of services) {
    server.addService(service.definition, service.implement(service.getHost(host)));
    methods.addService(service);
    health.setStatus(service.name, 'SERVING');
  }
  return { server, health, guard, loads };
}

/** Adds the series of served calls. */
export function countCalls(metrics: Metrics | undefined): (path: string, code: string) => void {
  const calls = metrics?.counter(
    'mutirao_rpc_calls_total',
    'Calls that ended, by method and error code; the code is empty for success.',
    ['method', 'code'],
  );
  return (path, code) => {
    calls?.inc({ method: path, code });
  };
}

function watchSecurity(security: ServerSecurity, certified: OpenCalls): () => void {
  const timer = setInterval(() => {
    security.refresh();
    certified.closeStale(Date.now());
  }, securityInterval).unref();
  return () => {
    clearInterval(timer);
  };
}

async function listenAtPort(server: Server, { host, port }: HostAddress, security: ServerCredentials): Promise<string> {
  return joinAddress(host, await listen(server, joinAddress(host, port), security));
}

async function listenAtSocket(server: Server, { path }: SocketAddress, security: ServerCredentials): Promise<string> {
  await makeRoomForSocket(path);
  await listen(server, socketAddress(path), security);
  // Nobody else could enter the folder meanwhile.
  chmodSync(path, 0o600);
  return socketAddress(path);
}

function listen(server: Server, address: string, credentials: ServerCredentials): Promise<number> {
  return new Promise((resolve, reject) => {
    server.bindAsync(address, credentials, (error, port) => {
      if (error === null) resolve(port);
      else reject(listenError(address, error));
    });
  });
}

/**
 * That a socket cannot be made, a port is reserved for root or an address is not of this host is another mistake than a
 * port that is taken.
 */
function listenError(address: string, error: Error): MutiraoError {
  if (error.message.includes('EADDRINUSE')) return addressTaken(address, error);
  return new MutiraoError('MUT_BAD_CONFIG', `cannot listen on ${address}: ${error.message}`, { cause: error });
}

function shutDown(server: Server, graceMs: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      server.forceShutdown();
    }, graceMs);
    server.tryShutdown(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}
