import { isIPv4, isIPv6 } from 'node:net';
import { MutiraoError } from '@mutirao/api/errors';

/** A host and a port, and how to speak there. */
export interface HostAddress {
  readonly host: string;
  readonly port: number;
  /** On loopback too: when a process has ended, any account of the host can take its port. */
  readonly isTls: true;
}

/** A socket of the file system; the permissions of its folder decide who can reach it. */
export interface SocketAddress {
  /** Absolute. */
  readonly path: string;
  /** Whether TLS is spoken: where it leads to a server that does. */
  readonly isTls: boolean;
}

/** Where something listens. */
export type Address = HostAddress | SocketAddress;

const wildcards: ReadonlySet<string> = new Set(['0.0.0.0', '::']);
const tlsScheme = 'tls://';
const socketScheme = 'unix:';
/** What the kernel takes for the path of a socket. */
export const socketPathBytesMax = 107;

/**
 * Reads `host:port` or `[host]:port`, with or without `tls://` before it, or `unix:/path/of/a/socket`. @throws
 * {MutiraoError} MUT_BAD_CONFIG
 */
export function parseAddress(text: string): Address {
  const isTls = text.startsWith(tlsScheme);
  const rest = isTls ? text.slice(tlsScheme.length) : text;
  return rest.startsWith(socketScheme) ? { path: readSocketPath(rest), isTls } : readHost(text);
}

function readHost(text: string): HostAddress {
  const match = /^(tls:\/\/)?(?:\[([\da-f:.%]+)\]|([^:/[\]\s]+)):(\d{1,5})$/i.exec(text);
  const host = match?.[2] ?? match?.[3];
  const port = Number(match?.[4]);
  if (host === undefined || port > 65_535) {
    throw new MutiraoError(
      'MUT_BAD_CONFIG',
      `address is "${text}"; expected host:port, for example 127.0.0.1:0, or tls://host:port, or unix:/path`,
    );
  }
  return { host, port, isTls: true };
}

// The characters left out have a meaning of their own for a program that gets the path: ssh, shells, files of settings.
const socketPath = /^\/[^\p{Cc}%$\\"'`]*[^/\p{Cc}%$\\"'`]$/u;

/** Whether a socket can be at an absolute path, with room for `spareBytes` more behind it. */
export function isSocketPath(path: string, spareBytes = 0): boolean {
  return socketPath.test(path) && Buffer.byteLength(path) + spareBytes <= socketPathBytesMax;
}

function readSocketPath(text: string): string {
  const path = text.slice(socketScheme.length);
  if (!socketPath.test(path)) {
    throw new MutiraoError(
      'MUT_BAD_CONFIG',
      `address is ${JSON.stringify(text)}; expected unix: and the absolute path of a socket, without quotes, ` +
        'backslashes, "%" and "$"',
    );
  }
  const bytes = Buffer.byteLength(path);
  if (bytes > socketPathBytesMax) {
    throw new MutiraoError(
      'MUT_BAD_CONFIG',
      `the path of the socket ${path} has ${bytes} bytes, and the kernel takes ${socketPathBytesMax}; expected a ` +
        'folder with a shorter name',
    );
  }
  return path;
}

/** Whether it is a socket of the file system. */
export function isSocket(address: Address): address is SocketAddress {
  return 'path' in address;
}

/** The address of a socket. */
export function socketAddress(path: string, isTls = false): string {
  return `${isTls ? tlsScheme : ''}${socketScheme}${path}`;
}

/** Reads a host and a port that only this host can reach. @throws {MutiraoError} MUT_LOOPBACK_ONLY or MUT_BAD_CONFIG */
export function parseLoopbackAddress(text: string): HostAddress {
  const address = parseAddress(text);
  if (isSocket(address) || !isLoopback(address.host))
    throw new MutiraoError('MUT_LOOPBACK_ONLY', `address is "${text}"; expected a loopback address`);
  return address;
}

/** Whether only this host can reach it. */
export function isLoopback(host: string): boolean {
  if (isIPv4(host)) return host.startsWith('127.');
  if (isIPv6(host)) return host === '::1';
  return host === 'localhost';
}

/** `host:port`, with brackets where IPv6 wants them. */
export function joinAddress(host: string, port: number): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/**
 * The address by which a process of the same host reaches a server, which may listen on all of the host's addresses.
 */
export function nearAddress(bound: string): string {
  const address = parseAddress(bound);
  if (isSocket(address)) return bound;
  const { host, port } = address;
  if (host === '0.0.0.0') return `127.0.0.1:${port}`;
  return host === '::' ? `[::1]:${port}` : bound;
}

/**
 * The address by which agents on other hosts reach a server.
 *
 * @param advertised what the user says it is, `HOST` or `HOST:PORT`; empty for the bound one, or the host's own name
 * where that is a wildcard.
 * @throws {MutiraoError} MUT_BAD_CONFIG
 */
export function farAddress(bound: string, advertised: string, ownName: string): string {
  const address = parseAddress(bound);
  if (isSocket(address)) {
    if (advertised === '') return bound;
    throw new MutiraoError(
      'MUT_BAD_CONFIG',
      `advertised address is "${advertised}", and agents are served at ${bound}, which other hosts cannot ` +
        'reach; expected --listen-agents HOST:PORT with it',
    );
  }
  const { host, port } = address;
  if (advertised === '') return wildcards.has(host) ? joinAddress(ownName, port) : bound;
  const hasPort = /^(?:tls:\/\/)?(?:\[[^\]]+\]|[^:[\]]+):\d+$/.test(advertised);
  const reported = readHost(hasPort ? advertised : joinAddress(advertised.replace(/^\[(.*)\]$/, '$1'), port));
  if (reported.port === 0)
    throw new MutiraoError(
      'MUT_BAD_CONFIG',
      `advertised address is "${advertised}"; expected a host, and a port other than 0 where it is another than the ` +
        'bound one',
    );
  return joinAddress(reported.host, reported.port);
}
