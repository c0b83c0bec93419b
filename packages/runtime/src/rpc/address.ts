import { isIPv4, isIPv6 } from 'node:net';
import { MutiraoError } from '@mutirao/api/errors';

/** A host and a port, and how to speak there. */
export interface Address {
  readonly host: string;
  readonly port: number;
  /** Whether TLS is spoken: always off loopback, and where the address begins with `tls://`. */
  readonly isTls: boolean;
}

const tlsScheme = 'tls://';

/** Reads `host:port` or `[host]:port`, with or without `tls://` before it. @throws {MutiraoError} MUT_BAD_CONFIG */
export function parseAddress(text: string): Address {
  const match = /^(tls:\/\/)?(?:\[([\da-f:.%]+)\]|([^:/[\]\s]+)):(\d{1,5})$/i.exec(text);
  const host = match?.[2] ?? match?.[3];
  const port = Number(match?.[4]);
  if (host === undefined || port > 65_535) {
    throw new MutiraoError('MUT_BAD_CONFIG', `address is "${text}"; want host:port, for example 127.0.0.1:0, or tls://host:port`);
  }
  return { host, port, isTls: match?.[1] !== undefined || !isLoopback(host) };
}

/** Reads an address that only this host can reach. @throws {MutiraoError} MUT_LOOPBACK_ONLY or MUT_BAD_CONFIG */
export function parseLoopbackAddress(text: string): Address {
  const address = parseAddress(text);
  if (!isLoopback(address.host)) throw new MutiraoError('MUT_LOOPBACK_ONLY', `address is "${text}"; want a loopback address`);
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

/** The address by which a process of the same host reaches a server, which may listen on all of the host's addresses. */
export function nearAddress(bound: string): string {
  const { host, port } = parseAddress(bound);
  if (host === '0.0.0.0') return `${tlsScheme}127.0.0.1:${port}`;
  return host === '::' ? `${tlsScheme}[::1]:${port}` : bound;
}

/**
 * The address by which agents on other hosts reach a server.
 *
 * @param advertised what the user says it is, `HOST` or `HOST:PORT`; empty for the bound one, or the host's own name where that is a wildcard.
 * @throws {MutiraoError} MUT_BAD_CONFIG
 */
export function farAddress(bound: string, advertised: string, ownName: string): string {
  const { host, port, isTls } = parseAddress(bound);
  const isWildcard = host === '0.0.0.0' || host === '::';
  if (advertised === '') return isWildcard ? joinAddress(ownName, port) : bound;
  const hasPort = /^(?:tls:\/\/)?(?:\[[^\]]+\]|[^:[\]]+):\d+$/.test(advertised);
  const told = parseAddress(hasPort ? advertised : joinAddress(advertised.replace(/^\[(.*)\]$/, '$1'), port));
  if (told.port === 0) throw new MutiraoError('MUT_BAD_CONFIG', `advertised address is "${advertised}"; want a host, and a port other than 0 where it is another than the bound one`);
  // What is served by TLS is dialled by TLS, whatever the host it is reached through (a tunnel's loopback end, for example).
  return `${isTls && isLoopback(told.host) ? tlsScheme : ''}${joinAddress(told.host, told.port)}`;
}
