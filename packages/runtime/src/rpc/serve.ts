import { Server, ServerCredentials } from '@grpc/grpc-js';
import { MutiraoError } from '@mutirao/api/errors';
import type { Logger } from '../log/index.ts';
import type { Metrics } from '../metrics/index.ts';
import type { RpcHost } from './adapt.ts';
import { parseLoopbackAddress } from './address.ts';
import type { ServiceBinding } from './bind.ts';
import { channelOptions } from './channel.ts';
import { addReflection } from './reflection.ts';
import type { TokenCheck } from './tokens.ts';

/** What to serve, where, and to whom. */
export interface ServeOptions {
  /** `host:port`, loopback; port 0 takes a free one. */
  readonly address: string;
  readonly tokens: TokenCheck;
  readonly log: Logger;
  readonly services: readonly ServiceBinding[];
  readonly metrics?: Metrics;
}

/** A server that takes calls. */
export interface RunningServer {
  /** `host:port` with the port that was taken. */
  readonly address: string;
  /** Takes no new call, closes streams both ways, lets other calls end for `graceMs`, then cuts them off. */
  drain(graceMs: number): Promise<void>;
}

/**
 * Serves services, with grpc.health.v1 open to all and server reflection to those with a token.
 *
 * @throws {MutiraoError} MUT_LOOPBACK_ONLY, MUT_BAD_CONFIG, or MUT_ALREADY_RUNNING when the port is taken.
 */
export async function serve(options: ServeOptions): Promise<RunningServer> {
  const { host, port } = parseLoopbackAddress(options.address);
  const name = host.includes(':') ? `[${host}]` : host;
  const stopping = new AbortController();
  const rpcHost: RpcHost = { tokens: options.tokens, log: options.log, stopping: stopping.signal, streams: new Set(), count: counter(options.metrics) };
  const server = new Server(channelOptions);
  // Loaded here, so that a process that only dials does not pay for it.
  const { HealthImplementation } = await import('grpc-health-check');
  const health = new HealthImplementation({ '': 'SERVING' });
  health.addToServer(server);
  addReflection(server, rpcHost, options.services.map((service) => service.name));
  for (const service of options.services) {
    server.addService(service.definition, service.implement(rpcHost));
    health.setStatus(service.name, 'SERVING');
  }
  const bound = await listen(server, `${name}:${port}`);
  return {
    address: `${name}:${bound}`,
    drain: async (graceMs) => {
      for (const service of ['', ...options.services.map((binding) => binding.name)]) health.setStatus(service, 'NOT_SERVING');
      stopping.abort();
      for (const stream of rpcHost.streams) stream.close(new MutiraoError('MUT_STOPPING', 'the server is stopping'));
      await shutDown(server, graceMs);
    },
  };
}

function counter(metrics: Metrics | undefined): (path: string, code: string) => void {
  const calls = metrics?.counter('mutirao_rpc_calls_total', 'Calls served, by method and by error code (empty for success).', ['method', 'code']);
  return (path, code) => { calls?.inc({ method: path, code }); };
}

function listen(server: Server, address: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.bindAsync(address, ServerCredentials.createInsecure(), (error, port) => {
      if (error === null) resolve(port);
      else reject(new MutiraoError('MUT_ALREADY_RUNNING', `cannot listen on ${address}: ${error.message}`, { cause: error }));
    });
  });
}

function shutDown(server: Server, graceMs: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => { server.forceShutdown(); }, graceMs);
    server.tryShutdown(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}
