import {
  connect as connectHttp2,
  constants,
  type ClientHttp2Session,
  type ClientHttp2Stream,
  type OutgoingHttpHeaders,
} from 'node:http2';
import { connect as connectNet, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { isSocket, parseAddress } from '@mutirao/runtime/rpc';
import { until } from './until.ts';

/** A call as raw http2, which sends what no client of gRPC would. */
export interface RawCall {
  readonly stream: ClientHttp2Stream;
  /** The status that the server answered with; undefined before it has. */
  status(): string | undefined;
  isOver(): boolean;
}

/**
 * Connections to a server of gRPC that follow none of its rules. Nothing is checked: neither who the server is, nor
 * whether it answers.
 */
export class HostileClient {
  readonly address: string;
  readonly #sockets = new Set<Socket>();
  readonly #sessions = new Set<ClientHttp2Session>();

  /** @param address as a server has it; a port is spoken to with TLS. */
  constructor(address: string) {
    this.address = address;
  }

  /** Connects and says nothing, not even how TLS begins. */
  connectSilently(): Socket {
    const address = parseAddress(this.address);
    // Read from, so that it learns when the server closes it.
    return this.#keep(isSocket(address) ? connectNet(address.path) : connectNet(address.port, address.host)).resume();
  }

  /** Connects and speaks http2, so far without any call. */
  connect(): ClientHttp2Session {
    const address = parseAddress(this.address);
    const session = connectHttp2('https://localhost', {
      createConnection: () =>
        this.#keep(
          isSocket(address)
            ? connectNet(address.path)
            : connectTls({ host: address.host, port: address.port, rejectUnauthorized: false, ALPNProtocols: ['h2'] }),
        ),
    });
    session.on('error', () => undefined);
    this.#sessions.add(session);
    session.once('close', () => {
      this.#sessions.delete(session);
    });
    return session;
  }

  /** Begins a call and leaves it open. @param headers in addition to what gRPC asks for, or in its place. */
  begin(session: ClientHttp2Session, path: string, headers: OutgoingHttpHeaders = {}): RawCall {
    const stream = session.request({
      ':method': 'POST',
      ':path': path,
      ':scheme': 'http',
      'content-type': 'application/grpc+proto',
      te: 'trailers',
      ...headers,
    });
    let status: string | undefined;
    const note = (answer: Record<string, unknown>): void => {
      status ??= answer['grpc-status'] as string | undefined;
    };
    stream.on('error', () => undefined);
    stream.on('response', note);
    stream.on('trailers', note);
    stream.resume();
    return { stream, status: () => status, isOver: () => stream.closed };
  }

  /** Connections that the server has not closed. */
  get openCount(): number {
    return [...this.#sockets].filter((socket) => !socket.destroyed).length;
  }

  /** Closes all. */
  async close(): Promise<void> {
    for (const session of this.#sessions) session.destroy(undefined, constants.NGHTTP2_NO_ERROR);
    for (const socket of this.#sockets) socket.destroy();
    await until(() => this.openCount === 0, 'the hostile client has closed its connections');
  }

  #keep<S extends Socket>(socket: S): S {
    this.#sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('close', () => {
      this.#sockets.delete(socket);
    });
    return socket;
  }
}

/** The prefix of a gRPC message that states a length of `bytes`. */
export function messagePrefix(bytes: number, isCompressed = false): Buffer {
  const prefix = Buffer.alloc(5);
  prefix.writeUInt8(isCompressed ? 1 : 0, 0);
  prefix.writeUInt32BE(bytes, 1);
  return prefix;
}
