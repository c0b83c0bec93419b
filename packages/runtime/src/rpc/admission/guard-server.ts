import type { IncomingHttpHeaders, ServerHttp2Session, ServerHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import type { Server } from '@grpc/grpc-js';
import { serverLimits } from '@mutirao/api/limits';
import { steadyClock } from '../../driver/clock.ts';
import type { RpcHost } from '../adapt.ts';
import { CallGate, type GatedMethod } from './call-gate.ts';
import { listAddress, Connections, type Connection } from './connections.ts';
import { gateEvent, onHttp2Server, type AnyHttp2Server } from './http2-server.ts';
import type { CallerLoads } from './caller-loads.ts';

/** What a guard needs of its server. */
export interface GuardOptions {
  readonly methods: ReadonlyMap<string, GatedMethod>;
  readonly loads: CallerLoads;
  readonly host: RpcHost;
  /** Bounds other than those of the documentation, for tests. */
  readonly limits?: Partial<GuardLimits> | undefined;
}

/** The bounds on connections and calls, by their names in `serverLimits`. */
export type GuardLimits = { readonly [Name in keyof typeof serverLimits]: number };

const documentedLimits = Object.fromEntries(
  Object.entries(serverLimits).map(([name, { max }]) => [name, max]),
) as GuardLimits;

/** A guard that watches over a server. */
export interface ServerGuard {
  readonly connections: Pick<Connections, 'count' | 'unprovenCount'>;
  stop(): void;
}

const sweepInterval = 1000;

/** Has a server of grpc-js bound its connections, and admit calls by their headers. Called before it listens. */
export function guardServer(server: Server, { methods, loads, host, limits: given }: GuardOptions): ServerGuard {
  const limits: GuardLimits = { ...documentedLimits, ...given };
  const connections = new Connections({
    connectionsMax: limits.connections,
    unprovenMax: limits.unprovenConnections,
    unprovenAgeMax: limits.unprovenAge,
    unprovenGrace: limits.unprovenGrace,
  });
  const gate = new CallGate({ methods, connections, host, limits, now: () => steadyClock.now() });
  onHttp2Server(server, (http2Server) => {
    http2Server.updateSettings({
      maxConcurrentStreams: limits.callsPerConnection,
      maxHeaderListSize: limits.headerBytes,
    });
    guardHttp2(http2Server, { connections, gate, loads });
  });
  const timer = setInterval(() => {
    const now = steadyClock.now();
    connections.closeOld(now);
    gate.closeSlow(now);
    loads.sweep(now);
    host.refusals.reportSkipped();
  }, sweepInterval).unref();
  return {
    connections,
    stop: () => {
      clearInterval(timer);
    },
  };
}

interface Guards {
  readonly connections: Connections;
  readonly gate: CallGate;
  readonly loads: CallerLoads;
}

function guardHttp2(http2Server: AnyHttp2Server, { connections, gate, loads }: Guards): void {
  /**
   * Connections without a session: with TLS it begins when the handshake is over, on another object than the socket of
   * the connection.
   */
  const waiting = new Set<Connection>();
  let current: Connection | undefined;
  gateEvent(http2Server, 'connection', (socket: Socket) => {
    const connection = connections.open(socket, steadyClock.now());
    if (connection === undefined) return false;
    current = connection;
    waiting.add(connection);
    socket.once('close', () => {
      waiting.delete(connection);
      connections.close(connection);
      loads.leave(connection);
    });
    return true;
  });
  gateEvent(http2Server, 'secureConnection', (socket: Socket) => {
    const from = listAddress(socket);
    current = [...waiting].find((connection) => connection.from === from);
    return current !== undefined;
  });
  http2Server.on('session', (session: ServerHttp2Session) => {
    if (current === undefined) return;
    gate.note(session, current);
    waiting.delete(current);
  });
  gateEvent(http2Server, 'stream', (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) =>
    gate.admits(stream, headers),
  );
}
