import type { EventEmitter } from 'node:events';
import type { Http2SecureServer, Http2Server } from 'node:http2';
import type { Server, ServerCredentials } from '@grpc/grpc-js';

/** An http2 server that grpc-js listens with. */
export type AnyHttp2Server = Http2Server | Http2SecureServer;

/**
 * Calls `prepare` with each http2 server that grpc-js makes for a server, before it listens.
 *
 * grpc-js shows a call to its interceptors only when it already reads the body, and has no bounds on connections. Both
 * need the http2 server, which it
 * does not hand out: this is the one place that relies on how it makes it.
 *
 * @throws Error when this release of grpc-js makes it in another way.
 */
export function onHttp2Server(server: Server, prepare: (http2Server: AnyHttp2Server) => void): void {
  const inner = server as unknown as { createHttp2Server?: (credentials: ServerCredentials) => AnyHttp2Server };
  const create = inner.createHttp2Server;
  if (typeof create !== 'function')
    throw new Error('this release of @grpc/grpc-js does not make its http2 server in createHttp2Server');
  inner.createHttp2Server = (credentials) => {
    const http2Server = create.call(server, credentials);
    prepare(http2Server);
    return http2Server;
  };
}

/** Lets an event through to those that listen so far only where `admits` says so. */
export function gateEvent<Values extends unknown[]>(
  emitter: EventEmitter,
  event: string,
  admits: (...values: Values) => boolean,
): void {
  const listeners = emitter.listeners(event);
  emitter.removeAllListeners(event);
  emitter.on(event, (...values: Values) => {
    if (admits(...values)) for (const listener of listeners) Reflect.apply(listener, emitter, values);
  });
}
