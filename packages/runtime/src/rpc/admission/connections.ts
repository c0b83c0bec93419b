import type { Socket } from 'node:net';
import type { Duration, Instant } from '@mutirao/core/shared';
import type { Peer } from '../peers.ts';

/** One connection to a server. */
export interface Connection {
  readonly socket: Pick<Socket, 'destroy' | 'once'>;
  readonly openedAt: Instant;
  /** Address of the other host; `socket` for a socket of the file system. */
  readonly host: string;
  /** The same with its port. */
  readonly from: string;
  /** Whether a call on it came with a credential that was accepted. */
  isProven: boolean;
  /** Those whose calls count it among their connections, as `CallerLoads` names them. */
  readonly callers: Set<string>;
  /** The user that the certificate of the connection names; undefined before it was looked at. */
  peer: Peer | undefined;
  /** Calls that are open. */
  callCount: number;
  refusedCount: number;
}

/** Bounds on the connections of a server. */
export interface ConnectionLimits {
  readonly connectionsMax: number;
  readonly unprovenMax: number;
  readonly unprovenAgeMax: Duration;
  /** A younger connection is not closed for a further one. */
  readonly unprovenGrace: Duration;
}

/** The connections of a server. Those that never showed a credential are few and do not last. */
export class Connections {
  readonly #limits: ConnectionLimits;
  readonly #all = new Set<Connection>();
  /** By host, each in the order in which they were opened. */
  readonly #unproven = new Map<string, Set<Connection>>();
  #unprovenCount = 0;

  constructor(limits: ConnectionLimits) {
    this.#limits = limits;
  }

  get count(): number {
    return this.#all.size;
  }

  get unprovenCount(): number {
    return this.#unprovenCount;
  }

  /**
   * Takes a connection in; undefined where there are too many, and it is closed.
   *
   * Where too many have shown no credential, the oldest of the host that has most of them is closed. While that one is
   * young, the further one is closed instead: of a thousand agents that return at once, those that have begun would
   * else be thrown out before they are done, and nobody would ever come in.
   */
  open(socket: Socket, now: Instant): Connection | undefined {
    if (this.#all.size >= this.#limits.connectionsMax || !this.#makeRoom(now)) {
      socket.destroy();
      return undefined;
    }
    const host = socket.remoteAddress ?? 'socket';
    const connection: Connection = {
      socket,
      openedAt: now,
      host,
      from: listAddress(socket),
      isProven: false,
      callers: new Set(),
      peer: undefined,
      callCount: 0,
      refusedCount: 0,
    };
    this.#all.add(connection);
    const mates = this.#unproven.get(host) ?? new Set();
    this.#unproven.set(host, mates.add(connection));
    this.#unprovenCount += 1;
    return connection;
  }

  /** A credential was accepted on it. */
  prove(connection: Connection): void {
    if (connection.isProven) return;
    connection.isProven = true;
    this.#forgetUnproven(connection);
  }

  /** It is closed. Harmless again. */
  close(connection: Connection): void {
    if (this.#all.delete(connection) && !connection.isProven) this.#forgetUnproven(connection);
  }

  /** Closes those that have shown no credential for too long. */
  closeOld(now: Instant): void {
    const openedBefore = now - this.#limits.unprovenAgeMax;
    for (const mates of this.#unproven.values()) {
      for (const connection of mates) {
        if (connection.openedAt > openedBefore) break;
        connection.socket.destroy();
      }
    }
  }

  /** Whether one more without a credential has room. */
  #makeRoom(now: Instant): boolean {
    if (this.#unprovenCount < this.#limits.unprovenMax) return true;
    let most: Set<Connection> | undefined;
    for (const mates of this.#unproven.values()) if (mates.size > (most?.size ?? 0)) most = mates;
    const [oldest] = most ?? [];
    if (oldest === undefined || now - oldest.openedAt < this.#limits.unprovenGrace) return false;
    // It counts no more from now on: the event of its end comes later, and meanwhile others are opened.
    this.close(oldest);
    oldest.socket.destroy();
    return true;
  }

  #forgetUnproven(connection: Connection): void {
    const mates = this.#unproven.get(connection.host);
    if (mates?.delete(connection) !== true) return;
    this.#unprovenCount -= 1;
    if (mates.size === 0) this.#unproven.delete(connection.host);
  }
}

/** The address at the other end of a connection, with its port; `socket` for a socket of the file system. */
export function listAddress({ remoteAddress, remotePort }: Pick<Socket, 'remoteAddress' | 'remotePort'>): string {
  return remoteAddress === undefined || remotePort === undefined ? 'socket' : `${remoteAddress}:${remotePort}`;
}
