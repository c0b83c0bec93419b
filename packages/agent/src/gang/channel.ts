import { once } from 'node:events';
import type { AddressInfo, Server, Socket } from 'node:net';
import { connect, createServer, type ConnectionOptions, type TLSSocket } from 'node:tls';
import { MutiraoError } from '@mutirao/api/errors';
import { isSocket, joinAddress, parseAddress } from '@mutirao/runtime/rpc';
import { describeError } from '@mutirao/core/shared';
import { Connection, type Patience } from './connection.ts';

/** Who speaks on a gang's channel, and what both ends have to know. */
export interface ChannelKey {
  readonly gangId: number;
  /** Of the member that listens: a connection that was meant for another is refused. */
  readonly rank: number;
  /** Of this gang alone, 32 bytes. */
  readonly secret: Uint8Array;
}

/**
 * The one suite: both ends prove that they have the secret, there are no certificates, and what was recorded cannot be
 * read when the secret is found out later.
 */
const suite = { ciphers: 'ECDHE-PSK-CHACHA20-POLY1305', minVersion: 'TLSv1.2', maxVersion: 'TLSv1.2' } as const;
const handshakeMax = 5000;
/** Connections of one member, foreigners that have shown nothing yet among them. */
const connectionsMax = 1024;
const foreignersMax = 64;

/** Where a member of a gang listens. Only peers with the gang's secret are served. */
export class ChannelListener {
  /** One for each host, as `host:port`. */
  readonly addresses: readonly string[];
  private readonly servers: readonly Server[];
  private readonly open: Set<Connection>;

  private constructor(servers: readonly Server[], open: Set<Connection>) {
    this.servers = servers;
    this.open = open;
    this.addresses = servers.map((server) => {
      const { address, port } = server.address() as AddressInfo;
      return joinAddress(address, port);
    });
  }

  /**
   * Listens on a port of its own at each of these addresses of this host.
   *
   * @param accept called for each connection whose peer has shown the secret.
   * @throws {MutiraoError} MUT_GANG_CHANNEL_FAILED when it can listen on none of them.
   */
  static async start(
    hosts: readonly string[],
    key: ChannelKey,
    accept: (connection: Connection) => void,
    patience?: Patience,
  ): Promise<ChannelListener> {
    const open = new Set<Connection>();
    const tried = await Promise.allSettled(
      hosts.map((host) =>
        listenAt(host, key, (socket) => {
          const connection = new Connection(socket, patience);
          open.add(connection);
          socket.once('close', () => {
            open.delete(connection);
          });
          accept(connection);
        }),
      ),
    );
    const servers = tried.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
    if (servers.length > 0) return new ChannelListener(servers, open);
    throw new MutiraoError(
      'MUT_GANG_CHANNEL_FAILED',
      `cannot listen for the gang on ${hosts.join(', ')}: ` +
        `${tried.map((result) => (result.status === 'rejected' ? describeError(result.reason) : '')).join('; ')}`,
    );
  }

  /** Listens no more and closes all connections. */
  close(): void {
    for (const server of this.servers) server.close();
    for (const connection of this.open) connection.close('the member has ended');
  }
}

async function listenAt(
  host: string,
  { gangId, rank, secret }: ChannelKey,
  accept: (socket: Socket) => void,
): Promise<Server> {
  const identity = getIdentity(gangId, rank);
  const server = createServer({
    ...suite,
    handshakeTimeout: handshakeMax,
    pskCallback: (_socket, shown) => (shown === identity ? secret : null),
  });
  // Each ends as one of two events; that of a socket that we destroy is the second.
  let foreignCount = 0;
  server.maxConnections = connectionsMax;
  server.on('connection', (socket: Socket) => {
    if (++foreignCount > foreignersMax) socket.destroy();
  });
  server.on('secureConnection', (socket) => {
    foreignCount--;
    accept(socket);
  });
  server.on('tlsClientError', (_error, socket) => {
    foreignCount--;
    socket.destroy();
  });
  server.listen({ host, port: 0 });
  await once(server, 'listening');
  server.on('error', () => undefined);
  return server;
}

/** Time after which the next address is tried while the earlier ones have not answered. */
const stagger = 250;

/**
 * Connects to a member: at its first address, and at the next ones where that does not answer.
 *
 * @throws {MutiraoError} MUT_GANG_CHANNEL_FAILED, when none of them answers within `deadline` milliseconds, or with the
 * other secret.
 */
export async function dialMember(
  addresses: readonly string[],
  key: ChannelKey,
  deadline: number,
  patience?: Patience,
): Promise<Connection> {
  const abort = new AbortController();
  const timer = setTimeout(() => {
    abort.abort(new Error(`no answer within ${deadline} ms`));
  }, deadline);
  const sockets = addresses.map((address, index) => dialAddress(address, key, index * stagger, abort.signal));
  try {
    const chosen = await Promise.any(sockets);
    // Another one may have answered in the same moment.
    for (const other of sockets)
      other.then(
        (socket) => {
          if (socket !== chosen) socket.destroy();
        },
        () => undefined,
      );
    return new Connection(chosen, patience);
  } catch (error) {
    const reasons = error instanceof AggregateError ? error.errors.map(describeError) : [describeError(error)];
    throw new MutiraoError(
      'MUT_GANG_CHANNEL_FAILED',
      `no member answers at ${addresses.length === 0 ? 'any address' : addresses.join(', ')}: ${reasons.join('; ')}`,
    );
  } finally {
    clearTimeout(timer);
    abort.abort(new Error('another address answered'));
  }
}

/** @param signal ends the attempt; a socket that was handed out is not touched. */
function dialAddress(
  address: string,
  { gangId, rank, secret }: ChannelKey,
  delay: number,
  signal: AbortSignal,
): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    let socket: TLSSocket | undefined;
    const options: ConnectionOptions = {
      ...suite,
      ...hostAndPort(address),
      pskCallback: () => ({ psk: secret, identity: getIdentity(gangId, rank) }),
      checkServerIdentity: () => undefined,
    };
    const timer = setTimeout(() => {
      socket = connect(options);
      socket.once('error', reject);
      socket.once('close', () => {
        reject(new Error('it was closed'));
      });
      socket.once('secureConnect', () => {
        signal.removeEventListener('abort', stop);
        if (socket !== undefined) resolve(socket);
      });
    }, delay);
    const stop = (): void => {
      clearTimeout(timer);
      socket?.destroy();
      reject(signal.reason instanceof Error ? signal.reason : new Error('given up'));
    };
    signal.addEventListener('abort', stop, { once: true });
  });
}

function hostAndPort(address: string): { host: string; port: number } {
  const parsed = parseAddress(address);
  if (isSocket(parsed))
    throw new MutiraoError('MUT_GANG_CHANNEL_FAILED', `address of a member is "${address}"; expected host:port`);
  return parsed;
}

function getIdentity(gangId: number, rank: number): string {
  return `gang ${gangId} rank ${rank}`;
}
