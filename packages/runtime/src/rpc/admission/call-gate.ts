import { constants, type IncomingHttpHeaders, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';
import { TLSSocket } from 'node:tls';
import { GridMachineServiceService } from '@mutirao/api/machine';
import { MutiraoError } from '@mutirao/api/errors';
import { requestBytesPerSecond, transferBytesPerSecond, type TransferDirection } from '@mutirao/api/limits';
import type { Bytes, Duration, Instant, UserId } from '@mutirao/core/shared';
import { userOfToken, type RpcHost } from '../adapt.ts';
import { readPeer } from '../peers.ts';
import { toMutiraoError, toStatus } from '../status.ts';
import { findBearer } from '../tokens.ts';
import type { Connection, Connections } from './connections.ts';
import { MessageMeter } from './message-meter.ts';
import type { Caller, CallerLoads } from './caller-loads.ts';
import { TransferWaits } from './transfer-waits.ts';

/** What a machine calls to get work. */
const attachPath = GridMachineServiceService.attach.path;

/** What decides whether a call of a method is admitted. */
export interface GatedMethod {
  readonly path: string;
  /** Undefined for one that anybody may call. */
  readonly host: RpcHost | undefined;
  /** Counts what callers take; undefined for a method that anybody may call. */
  readonly loads: CallerLoads | undefined;
  /** How many machines share a credential; undefined where callers are users. */
  readonly machinesOf: ((userId: UserId) => number) | undefined;
  /** Whether its request is one message, and not a stream. */
  readonly isOneMessage: boolean;
  /** Where its stream is the bytes of a content. */
  readonly transfer?: TransferDirection | undefined;
  /** Of each message of the request; undefined where grpc-js has the same bound. */
  readonly requestBytesMax: Bytes | undefined;
}

/** A call that is refused, or may be. */
interface Refused {
  readonly stream: ServerHttp2Stream;
  readonly connection: Connection;
  readonly path: string;
}

/** A request of one message that has not arrived yet. */
interface Arriving extends Refused {
  readonly meter: MessageMeter;
  readonly begunAt: Instant;
}

/** What a gate needs of its server. */
export interface CallGateOptions {
  readonly methods: ReadonlyMap<string, GatedMethod>;
  readonly connections: Connections;
  readonly host: RpcHost;
  /** By their names in `serverLimits`. */
  readonly limits: {
    readonly unprovenCalls: number;
    readonly unprovenRefusals: number;
    readonly requestStart: Duration;
    readonly transferWait: Duration;
  };
  now(): Instant;
}

/** What stands for methods that do not exist in counts and logs: a caller chooses their names. */
const unknownPath = '(unknown)';

/** Decides by its headers whether a call is admitted. Of one that is not, no byte of the body is kept. */
export class CallGate {
  readonly #options: CallGateOptions;
  readonly #connectionOf = new WeakMap<ServerHttp2Session, Connection>();
  readonly #arriving = new Set<Arriving>();
  readonly #transfers: TransferWaits<Refused>;

  constructor(options: CallGateOptions) {
    this.#options = options;
    this.#transfers = new TransferWaits(options.limits.transferWait);
  }

  /** A session has begun on a connection. */
  note(session: ServerHttp2Session, connection: Connection): void {
    this.#connectionOf.set(session, connection);
  }

  /** Whether a call goes on; one that does not is answered. */
  admits(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): boolean {
    const connection =
      stream.session === undefined ? undefined : this.#connectionOf.get(stream.session as ServerHttp2Session);
    // The connection has gone meanwhile.
    if (connection === undefined || stream.destroyed) return false;
    const method = this.#options.methods.get(headers[':path'] ?? '');
    try {
      this.#begin({ stream, headers, connection, method });
      return true;
    } catch (error) {
      this.#refuse({ stream, connection, path: method?.path ?? unknownPath }, toMutiraoError(error));
      return false;
    }
  }

  /** Ends calls whose request takes too long to arrive, and transfers whose other side is too slow. */
  closeSlow(now: Instant): void {
    for (const arriving of this.#arriving) {
      const {
        begunAt,
        meter: { declaredBytes },
      } = arriving;
      const allowed = this.#options.limits.requestStart + (declaredBytes / requestBytesPerSecond) * 1000;
      if (now - begunAt <= allowed) continue;
      this.#arriving.delete(arriving);
      this.#refuse(
        arriving,
        new MutiraoError('MUT_PEER_TOO_SLOW', `the request has not arrived within ${Math.round(allowed / 1000)} s`),
      );
    }
    for (const slow of this.#transfers.takeSlow(now))
      this.#refuse(
        slow,
        new MutiraoError(
          'MUT_PEER_TOO_SLOW',
          `the transfer has waited for its other side for ${Math.round(this.#options.limits.transferWait / 1000)} s; ` +
            `expected at least ${transferBytesPerSecond} bytes/s`,
        ),
      );
  }

  /** @throws {MutiraoError} when the call is refused. */
  #begin({
    stream,
    headers,
    connection,
    method,
  }: {
    readonly stream: ServerHttp2Stream;
    readonly headers: IncomingHttpHeaders;
    readonly connection: Connection;
    readonly method: GatedMethod | undefined;
  }): void {
    if (headers['content-type']?.startsWith('application/grpc') !== true)
      throw new MutiraoError('MUT_BAD_REQUEST', 'the content type is not application/grpc');
    if (method === undefined) throw new MutiraoError('MUT_UNIMPLEMENTED', 'the server does not have this method');
    const userId = method.host === undefined ? undefined : this.#prove(connection, method.host, { stream, headers });
    if (userId === undefined && !connection.isProven && connection.callCount >= this.#options.limits.unprovenCalls) {
      throw new MutiraoError(
        'MUT_OVERLOADED',
        `the connection has ${connection.callCount} calls open without a credential`,
      );
    }
    const caller = this.#count(userId, connection, method);
    connection.callCount += 1;
    const reserved = this.#follow(stream, { connection, method, caller });
    stream.once('close', () => {
      connection.callCount -= 1;
      if (caller !== undefined) method.loads?.end(caller, reserved());
    });
  }

  /**
   * Counts a call among those of its caller. @throws {MutiraoError} MUT_USER_RATE, MUT_USER_QUOTA or MUT_MACHINE_QUOTA
   */
  #count(
    userId: UserId | undefined,
    connection: Connection,
    { path, loads, machinesOf }: GatedMethod,
  ): Caller | undefined {
    if (userId === undefined) return undefined;
    const caller = machinesOf === undefined ? { userId } : { userId, machineCount: machinesOf(userId) };
    loads?.begin(caller, connection, this.#options.now(), path === attachPath);
    return caller;
  }

  /** @throws {MutiraoError} MUT_UNAUTHENTICATED */
  #prove(
    connection: Connection,
    { tokens, revoked }: RpcHost,
    { stream, headers }: { readonly stream: ServerHttp2Stream; readonly headers: IncomingHttpHeaders },
  ): UserId {
    let userId: UserId;
    if (revoked === undefined) {
      userId = userOfToken(findBearer(headers.authorization), tokens).userId;
    } else {
      connection.peer ??= readPeer(findCertificate(stream), revoked);
      connection.peer.requireGood(Date.now());
      ({ userId } = connection.peer);
    }
    this.#options.connections.prove(connection);
    return userId;
  }

  /** Watches over the request of a call. @returns how many bytes of it are reserved. */
  #follow(
    stream: ServerHttp2Stream,
    {
      connection,
      method,
      caller,
    }: { readonly connection: Connection; readonly method: GatedMethod; readonly caller: Caller | undefined },
  ): () => Bytes {
    const { path, isOneMessage, requestBytesMax, loads, transfer } = method;
    if (transfer !== undefined) this.#transfers.follow({ stream, connection, path }, stream, transfer);
    if (requestBytesMax === undefined) return () => 0;
    const meter = new MessageMeter(requestBytesMax);
    const arriving: Arriving = { stream, connection, path, meter, begunAt: this.#options.now() };
    let reserved = 0;
    if (isOneMessage) {
      this.#arriving.add(arriving);
      const forget = (): void => {
        this.#arriving.delete(arriving);
      };
      stream.once('end', forget);
      stream.once('close', forget);
    }
    // This listener receives bytes before grpc-js does, which buffers them.
    stream.on('data', (chunk: Buffer) => {
      if (stream.closed) return;
      try {
        meter.take(chunk);
        if (reserved > 0 || caller === undefined || !isOneMessage || meter.declaredBytes < largeRequest) return;
        loads?.reserve(caller, meter.declaredBytes);
        reserved = meter.declaredBytes;
      } catch (error) {
        this.#refuse(arriving, toMutiraoError(error));
      }
    });
    return () => reserved;
  }

  #refuse({ stream, connection, path }: Refused, error: MutiraoError): void {
    const { host, limits } = this.#options;
    host.count(path, error.code);
    host.refusals.warn(
      `${error.code} ${connection.host}`,
      { path, from: connection.from, code: error.code, reason: error.message },
      'a call is refused',
    );
    host.audit.record({
      action: 'call.refuse',
      who: [...connection.callers].map((key) => key.replace('\0', '')).join(' '),
      from: connection.from,
      target: path,
      refusedWith: error.code,
      detail: error.message,
    });
    answer(stream, error);
    connection.refusedCount += 1;
    if (!connection.isProven && connection.refusedCount >= limits.unprovenRefusals) connection.socket.destroy();
  }
}

/** From this size on the bytes of requests are counted for their users. */
const largeRequest: Bytes = 1024 ** 2;

function findCertificate({ session }: ServerHttp2Stream): ReturnType<TLSSocket['getPeerCertificate']> | undefined {
  const socket = session?.socket;
  return socket instanceof TLSSocket && socket.authorized ? socket.getPeerCertificate() : undefined;
}

/**
 * Ends a call with the status of an error. What still comes of its body is dropped, and the caller is asked to stop
 * sending.
 */
function answer(stream: ServerHttp2Stream, error: MutiraoError): void {
  stream.on('error', () => undefined);
  if (stream.headersSent) {
    stream.close(constants.NGHTTP2_ENHANCE_YOUR_CALM);
    return;
  }
  const { code, details, metadata } = toStatus(error);
  stream.respond(
    {
      ':status': 200,
      'content-type': 'application/grpc+proto',
      'grpc-status': String(code),
      'grpc-message': encodeURI(details.toWellFormed()),
      ...metadata.toHttp2Headers(),
    },
    { endStream: true },
  );
  stream.resume();
  stream.close(constants.NGHTTP2_NO_ERROR);
}
